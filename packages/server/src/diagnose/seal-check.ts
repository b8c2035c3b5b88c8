import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Configuration } from '../config/configuration.ts';
import { Findings, type Finding } from './finding.ts';

/** Whether the key of the seal can be had now, and wraps and unwraps. */
export async function checkSeal({ seal }: Pick<Configuration, 'seal'>): Promise<Finding[]> {
  const found = new Findings(`seal ${seal?.type ?? 'shamir'}`);
  if (!seal) {
    found.ok('operators unseal the server with their shares after each start');
    return found.all;
  }
  try {
    const key = typeof seal.key === 'function' ? await seal.key() : seal.key;
    const text = randomBytes(32);
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    const wrapped = Buffer.concat([cipher.update(text), cipher.final()]);
    const decipher = createDecipheriv('aes-256-gcm', key, iv).setAuthTag(cipher.getAuthTag());
    if (Buffer.concat([decipher.update(wrapped), decipher.final()]).equals(text)) found.ok('the key is there, wraps and unwraps');
    else found.failure('the key does not unwrap what it wrapped', 'Check the machine: its processor or memory is faulty');
  } catch (error) {
    found.failure(`the key cannot be used: ${(error as Error).message}`, 'The server would start and stay sealed');
  }
  return found.all;
}
