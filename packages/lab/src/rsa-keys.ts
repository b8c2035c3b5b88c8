import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface RsaKeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const kept = fileURLToPath(new URL('../../../.strongroom/rsa-keys', import.meta.url));
let drawn = 0;

/**
 * An RSA key of 2048 bits, another one at each call. To make one takes a fifth of a second of CPU, so each is kept below .strongroom, and the next
 * test file draws the same ones.
 */
export function rsaKeyPair(): RsaKeyPair {
  drawn += 1;
  const privateKey = keptKey(join(kept, `${drawn}.pem`));
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function keptKey(file: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  mkdirSync(kept, { recursive: true });
  // Another process may keep a key under this name at the same moment: whole, whichever comes last.
  const scratch = `${file}.${process.pid}`;
  writeFileSync(scratch, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  renameSync(scratch, file);
  return privateKey;
}
