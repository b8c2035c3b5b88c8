import { BadRequest, f, path, type AnyPath, type EngineRequest, type StorageView } from '@strongroom/engine-sdk';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import { fromBase64Url } from '../crypto/base64.ts';
import { allowedVersion, versionFor } from '../crypto/cipher.ts';
import { hashOf, type Hash } from '../crypto/hashes.ts';
import { signs } from '../crypto/key-types.ts';
import { ed25519Text } from '../crypto/material.ts';
import { readScheme, signWith, verifyWith, type Scheme } from '../crypto/signature.ts';
import { COST } from '../crypto/turns.ts';
import { readVersionedText, versionedText } from '../crypto/versioned-text.ts';
import { typeOf, type KeyStore } from '../keys/key-store.ts';
import type { KeyRecord } from '../stored/records.ts';
import { batchItems, batchResult, decoded, eachItem, ItemError, Reference, soleItem, soleResult, type Item } from './batch.ts';
import { batchInput, context, keyVersion, name } from './shared-fields.ts';

const DEFAULT_HASH = 'sha2-256';
const hashField = f.string(
  'The hash: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384 or sha3-512. Default: sha2-256.',
);
const urlalgorithm = f.name('The hash.');
const input = f.string('Base64 of the data.');

const schemeFields = {
  hash_algorithm: hashField,
  algorithm: f.string('An older name of hash_algorithm.', { deprecated: true }),
  prehashed: f.bool('Whether the input is a digest already.', { default: false }),
  signature_algorithm: f.string('Of RSA keys: pss or pkcs1v15. Default: pss.'),
  marshaling_algorithm: f.string('asn1, or jws as in JSON Web Signatures.', { default: 'asn1' }),
  salt_length: f.string('Of PSS: auto, hash or a number of bytes.', { default: 'auto' }),
};

interface SchemeData {
  readonly hash_algorithm?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly urlalgorithm?: string | undefined;
  readonly prehashed: boolean;
  readonly signature_algorithm?: string | undefined;
  readonly marshaling_algorithm: string;
  readonly salt_length: string;
}

const Signed = Type.Object({
  signature: Type.Optional(Type.String()),
  key_version: Type.Optional(Type.Integer()),
  public_key: Type.Optional(Type.String()),
  batch_results: Type.Optional(
    Type.Array(
      Type.Object({
        signature: Type.Optional(Type.String()),
        key_version: Type.Integer(),
        publickey: Type.Optional(Type.String()),
        error: ItemError,
        reference: Reference,
      }),
    ),
  ),
});

const Verified = Type.Object({
  valid: Type.Optional(Type.Boolean()),
  batch_results: Type.Optional(Type.Array(Type.Object({ valid: Type.Optional(Type.Boolean()), error: ItemError, reference: Reference }))),
});

const Hashed = Type.Object({
  hmac: Type.Optional(Type.String()),
  batch_results: Type.Optional(Type.Array(Type.Object({ hmac: Type.Optional(Type.String()), error: ItemError, reference: Reference }))),
});

/** `sign/`, `verify/` and `hmac/`, with the hash in the path or not. */
export function signPaths(keys: KeyStore): AnyPath[] {
  const signFields = { name, input, context, key_version: keyVersion, ...schemeFields, batch_input: batchInput(['input', 'context']) };
  const verifyFields = {
    name,
    input,
    context,
    signature: f.string('What sign answered.'),
    hmac: f.string('What hmac answered, instead of a signature.'),
    ...schemeFields,
    batch_input: batchInput(['input', 'context', 'signature', 'hmac']),
  };
  const hmacFields = { name, input, algorithm: hashField, key_version: keyVersion, batch_input: batchInput(['input']) };
  const signOp = { summary: 'Signs data, or a batch of them.', response: Signed };
  const verifyOp = { summary: 'Verifies a signature or an HMAC, or a batch of them.', response: Verified };
  const hmacOp = { summary: 'Creates an HMAC of data, or of a batch of them.', response: Hashed };
  const signAbout = { synopsis: 'Signs data with a key.', description: 'Ed25519 keys take no hash.' };
  const verifyAbout = {
    synopsis: 'Verifies signatures and HMACs.',
    description: 'The hash and the other choices are those of the signature.',
  };
  const hmacAbout = { synopsis: 'Creates HMACs.', description: 'Every key can: each version has a key of its own for HMACs.' };
  return [
    path('sign/{name}', { ...signAbout, fields: signFields }).update({ ...signOp, handle: async (req) => signed(keys, req) }),
    path('sign/{name}/{urlalgorithm}', { ...signAbout, fields: { ...signFields, urlalgorithm } }).update({
      ...signOp,
      handle: async (req) => signed(keys, req),
    }),
    path('verify/{name}', { ...verifyAbout, fields: verifyFields }).update({ ...verifyOp, handle: async (req) => verified(keys, req) }),
    path('verify/{name}/{urlalgorithm}', { ...verifyAbout, fields: { ...verifyFields, urlalgorithm } }).update({
      ...verifyOp,
      handle: async (req) => verified(keys, req),
    }),
    path('hmac/{name}', { ...hmacAbout, fields: hmacFields }).update({ ...hmacOp, handle: async (req) => hashed(keys, req) }),
    path('hmac/{name}/{urlalgorithm}', { ...hmacAbout, fields: { ...hmacFields, urlalgorithm } }).update({
      ...hmacOp,
      handle: async (req) => hashed(keys, req),
    }),
  ];
}

type Asked<D> = Pick<EngineRequest, 'storage' | 'signal'> & { readonly data: D };
type Batch = { readonly name: string; readonly input?: string | undefined; readonly batch_input?: unknown[] | undefined };

async function signed(
  keys: KeyStore,
  req: Asked<SchemeData & Batch & { readonly context?: string | undefined; readonly key_version: number }>,
) {
  const { data, storage } = req;
  const scheme = schemeOf(data);
  const key = await signingKey(keys, storage, data.name, 'signing key not found', 'signing');
  if (!scheme.hash && !(scheme.prehashed && scheme.rsa === 'pkcs1v15'))
    throw new BadRequest('hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15');
  const batch = batchItems(data.batch_input, ['input', 'context', 'reference']);
  const items = batch ?? [soleItem({ input: data.input ?? '', context: data.context })];
  const outcomes = await eachItem(
    req,
    items,
    () => costOf(key, scheme),
    async (item) => {
      const bytes = inputOf(item);
      const version = versionFor(key, data.key_version, 'signing');
      const { signature, publicKey } = await signWith(key, await keys.material(storage, key, version), scheme, bytes, contextOf(item));
      const text = signature.toString(scheme.marshaling === 'jws' ? 'base64url' : 'base64');
      return { signature: versionedText(version, text), key_version: version, publicKey: publicKey && ed25519Text(publicKey) };
    },
  );
  if (!batch) {
    const { publicKey, ...result } = soleResult(outcomes);
    return { data: { ...result, ...(publicKey === undefined ? {} : { public_key: publicKey }) } };
  }
  const results = outcomes.map((outcome, index) => {
    if ('error' in outcome) return batchResult(outcome, items[index]!, { key_version: 0 });
    const { publicKey, ...result } = outcome.result;
    return batchResult({ result: { ...result, ...(publicKey === undefined ? {} : { publickey: publicKey }) } }, items[index]!);
  });
  return { data: { batch_results: results as never[] } };
}

async function verified(
  keys: KeyStore,
  req: Asked<
    SchemeData &
      Batch & { readonly context?: string | undefined; readonly signature?: string | undefined; readonly hmac?: string | undefined }
  >,
) {
  const { data, storage } = req;
  const batch = batchItems(data.batch_input, ['input', 'context', 'signature', 'hmac', 'reference']);
  const items = batch ?? [soleItem({ input: data.input ?? '', context: data.context, signature: data.signature, hmac: data.hmac })];
  const byHmac = verifiesHmacs(items, batch !== undefined);
  const scheme = byHmac ? undefined : schemeOf(data);
  const key = byHmac
    ? await keys.usable(storage, data.name)
    : await signingKey(keys, storage, data.name, 'signature verification key not found', 'verification');
  const hash = byHmac ? hmacHash(hashAsked(data)) : undefined;
  const outcomes = await eachItem(
    req,
    items,
    () => (scheme ? costOf(key, scheme) : COST.symmetric(0)),
    async (item) =>
      hash
        ? { valid: await verifyHmac(keys, storage, key, hash, item) }
        : { valid: await verifySignature(keys, storage, key, scheme!, item) },
  );
  if (!batch) return { data: soleResult(outcomes) };
  return {
    data: {
      batch_results: outcomes.map((outcome, index) => batchResult(outcome, items[index]!, byHmac ? {} : { valid: false })) as never[],
    },
  };
}

/** Node signs and verifies on other threads, unless the caller made the digest. */
function costOf(key: KeyRecord, { hash, prehashed }: Scheme): number {
  const { family } = typeOf(key);
  return (prehashed || !hash) && family !== 'ed25519' ? COST.slow : COST.asymmetric;
}

/** @throws BadRequest where items differ, or have neither */
function verifiesHmacs(items: readonly Item[], batch: boolean): boolean {
  const signatures = items.filter(({ texts }) => texts.has('signature')).length;
  const hmacs = items.filter(({ texts }) => texts.has('hmac')).length;
  if (!batch && signatures + hmacs === 0) throw new BadRequest("neither a 'signature' nor an 'hmac' were given to verify");
  if (!batch && signatures > 0 && hmacs > 0) throw new BadRequest("provide one of 'signature' or 'hmac'");
  if (signatures > 0 && hmacs > 0) throw new BadRequest("elements of batch_input must all provide 'signature' or all provide 'hmac'");
  if (signatures + hmacs === 0) throw new BadRequest("no batch_input elements have 'signature' or 'hmac'");
  if (signatures > 0 && signatures < items.length) throw new BadRequest("some elements of batch_input are missing 'signature'");
  if (hmacs > 0 && hmacs < items.length) throw new BadRequest("some elements of batch_input are missing 'hmac'");
  return hmacs > 0;
}

async function verifySignature(keys: KeyStore, storage: StorageView, key: KeyRecord, scheme: Scheme, item: Item): Promise<boolean> {
  const bytes = inputOf(item);
  const { version, body } = allowedVersion(key, item.texts.get('signature') ?? '', 'signature');
  const invalid = (): string => 'invalid base64 signature value';
  let signature: Buffer;
  try {
    signature = scheme.marshaling === 'jws' ? fromBase64Url(body) : decoded(body, invalid);
  } catch {
    throw new BadRequest(invalid());
  }
  return verifyWith(key, await keys.material(storage, key, version), scheme, bytes, contextOf(item), signature);
}

async function hashed(
  keys: KeyStore,
  req: Asked<Batch & { readonly algorithm?: string | undefined; readonly urlalgorithm?: string; readonly key_version: number }>,
) {
  const { data, storage } = req;
  const key = await keys.usable(storage, data.name);
  const version = hmacVersion(key, data.key_version);
  const hash = hmacHash(data.urlalgorithm ?? data.algorithm ?? DEFAULT_HASH);
  const batch = batchItems(data.batch_input, ['input', 'reference']);
  const items = batch ?? [soleItem({ input: data.input })];
  const own = await hmacKey(keys, storage, key, version);
  const outcomes = await eachItem(
    req,
    items,
    (item) => COST.symmetric(item.texts.get('input')?.length ?? 0),
    async (item) => {
      const bytes = inputOf(item, 'missing input for HMAC');
      return { hmac: versionedText(version, createHmac(hash.node, own).update(bytes).digest('base64')) };
    },
  );
  if (!batch) return { data: soleResult(outcomes) };
  return { data: { batch_results: outcomes.map((outcome, index) => batchResult(outcome, items[index]!)) as never[] } };
}

async function verifyHmac(keys: KeyStore, storage: StorageView, key: KeyRecord, hash: Hash, item: Item): Promise<boolean> {
  const bytes = inputOf(item);
  const { version, body } = readVersionedText(item.texts.get('hmac') ?? '', 'HMAC');
  const claimed = decoded(body, (fault) => `unable to decode verification HMAC as base64: ${fault}`);
  if (version > key.latest_version) throw new BadRequest('invalid HMAC: version is too new');
  if (version < key.min_decryption_version) throw new BadRequest('cannot verify HMAC: version is too old (disallowed by policy)');
  const found = createHmac(hash.node, await hmacKey(keys, storage, key, version))
    .update(bytes)
    .digest();
  return found.length === claimed.length && timingSafeEqual(found, claimed);
}

function hmacVersion(key: KeyRecord, asked: number): number {
  if (asked === 0) return key.latest_version;
  if (asked < 0) throw new BadRequest('key version does not exist (cannot be negative)');
  if (asked > key.latest_version) throw new BadRequest(`key version does not exist; latest key version is ${key.latest_version}`);
  if (asked < key.min_encryption_version) throw new BadRequest('cannot generate HMAC: version is too old (disallowed by policy)');
  return asked;
}

async function hmacKey(keys: KeyStore, storage: StorageView, key: KeyRecord, version: number): Promise<Buffer> {
  const found = (await keys.material(storage, key, version)).hmacKey;
  if (!found) throw new BadRequest('no HMAC key exists for that key version');
  return found;
}

function hmacHash(asked: string): Hash {
  const hash = hashOf(asked);
  if (!hash) throw new BadRequest(`unsupported algorithm "${asked}"`);
  return hash;
}

/** The hash that a verification asks for, of a signature or of an HMAC. */
function hashAsked({ urlalgorithm, hash_algorithm, algorithm }: Pick<SchemeData, 'urlalgorithm' | 'hash_algorithm' | 'algorithm'>): string {
  return [urlalgorithm, hash_algorithm, algorithm].find((asked) => asked !== undefined && asked !== '') ?? DEFAULT_HASH;
}

function schemeOf(data: SchemeData): Scheme {
  const hash = hashAsked(data);
  const { prehashed, signature_algorithm, marshaling_algorithm, salt_length } = data;
  return readScheme({ hash, prehashed, signature_algorithm, marshaling_algorithm, salt_length });
}

async function signingKey(keys: KeyStore, storage: StorageView, of: string, missing: string, noun: string): Promise<KeyRecord> {
  const key = await keys.usable(storage, of, missing);
  if (!signs(typeOf(key))) throw new BadRequest(`key type ${key.type} does not support ${noun}`);
  return key;
}

function inputOf(item: Item, missing = 'missing input'): Buffer {
  const text = item.texts.get('input');
  if (text === undefined) throw new BadRequest(missing);
  return decoded(text, (fault) => `unable to decode input as base64: ${fault}`);
}

function contextOf(item: Item): Buffer {
  return decoded(item.texts.get('context') ?? '', () => 'failed to base64-decode context');
}
