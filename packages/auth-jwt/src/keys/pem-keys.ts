import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';
import { keyProblem } from './algorithms.ts';
import type { VerificationKey } from './verification-key.ts';

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** The public keys in PEM texts: keys, and those of certificates. Other blocks do not count. @throws BadRequest for a text without any */
export function pemKeys(texts: readonly string[]): VerificationKey[] {
  return texts.flatMap(keysIn);
}

function keysIn(text: string): VerificationKey[] {
  const found: VerificationKey[] = [];
  for (const [block, label = ''] of text.matchAll(BLOCK)) {
    if (label.includes('PRIVATE')) throw new BadRequest('error parsing public key: this is a private key; write its public key');
    const key = publicKeyOf(block);
    if (!key) continue;
    const problem = keyProblem(key);
    if (problem !== undefined) throw new BadRequest(`error parsing public key: ${problem}`);
    found.push({ key, kid: undefined, alg: undefined });
  }
  if (found.length === 0) throw new BadRequest('error parsing public key: data does not contain any valid public keys');
  return found;
}

/** Undefined for what is not a key that Node knows: the text may hold another. */
function publicKeyOf(block: string): KeyObject | undefined {
  try {
    return createPublicKey(block);
  } catch {
    return undefined;
  }
}

/** What is wrong with the PEM of CA certificates, as a phrase; undefined for '' and for certificates. */
export function caProblem(pem: string): string | undefined {
  if (pem === '') return undefined;
  const blocks = [...pem.matchAll(BLOCK)].filter(([, label]) => label === 'CERTIFICATE');
  if (blocks.length === 0) return 'no PEM certificate is in it';
  try {
    for (const [block] of blocks) new X509Certificate(block);
    return undefined;
  } catch {
    return 'one of its certificates cannot be read';
  }
}
