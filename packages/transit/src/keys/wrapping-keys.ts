import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { StorageView } from '@strongroom/engine-sdk';
import { pairParts } from '../crypto/new-version.ts';
import { wrappingKeys } from '../stored/records.ts';

const BITS = 4096;
const NAME = 'rsa-4096';
const keyPair = promisify(generateKeyPair);

export interface WrappingPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** The key pair that keys to be imported are wrapped for. It is made when it is first asked for, and stays. */
export async function wrappingPair(storage: StorageView): Promise<WrappingPair> {
  const found = await wrappingKeys(storage).get(NAME);
  if (found) return pairOf(found);
  const made = await keyPair('rsa', { modulusLength: BITS });
  const parts = pairParts(made.privateKey, made.publicKey) as { private: string; public: string };
  const kept = await storage.transaction(async (tx) => {
    const first = await wrappingKeys(tx).get(NAME);
    if (!first) await wrappingKeys(tx).put(NAME, parts);
    return first ?? parts;
  });
  return pairOf(kept);
}

function pairOf({ private: own, public: open }: { readonly private: string; readonly public: string }): WrappingPair {
  return {
    privateKey: createPrivateKey({ key: Buffer.from(own, 'base64'), format: 'der', type: 'pkcs8' }),
    publicKey: createPublicKey({ key: Buffer.from(open, 'base64'), format: 'der', type: 'spki' }),
  };
}
