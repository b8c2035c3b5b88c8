import { BadRequest, f, path, type AnyPath, type StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { allowedVersion, decryptWith, encryptWith, versionFor } from '../crypto/cipher.ts';
import { encrypts, keyType } from '../crypto/key-types.ts';
import { COST } from '../crypto/turns.ts';
import { typeOf, type KeyStore } from '../keys/key-store.ts';
import { settingsOf, type KeyRecord } from '../stored/records.ts';
import {
  batchAnswer,
  batchItems,
  batchResult,
  contextsAgree,
  decoded,
  eachItem,
  ItemError,
  Reference,
  soleItem,
  soleResult,
  type Item,
} from './batch.ts';
import { associatedData, batchInput, context, keyVersion, name, partialFailure } from './shared-fields.ts';

const Encrypted = Type.Object({
  ciphertext: Type.Optional(Type.String()),
  key_version: Type.Optional(Type.Integer()),
  batch_results: Type.Optional(
    Type.Array(
      Type.Object({
        ciphertext: Type.Optional(Type.String()),
        key_version: Type.Optional(Type.Integer()),
        error: ItemError,
        reference: Reference,
      }),
    ),
  ),
});

const Decrypted = Type.Object({
  plaintext: Type.Optional(Type.String({ secret: true })),
  batch_results: Type.Optional(
    Type.Array(Type.Object({ plaintext: Type.String({ secret: true }), error: ItemError, reference: Reference })),
  ),
});

/** `encrypt/`, `decrypt/`, `rewrap/` and `datakey/`. */
export function encryptPaths(keys: KeyStore): AnyPath[] {
  return [encryptPath(keys), decryptPath(keys), rewrapPath(keys), dataKeyPath(keys)];
}

function encryptPath(keys: KeyStore): AnyPath {
  return path('encrypt/{name}', {
    synopsis: 'Encrypts data with a key.',
    description: 'A key that does not exist is created where the policy allows create, unless config/keys forbids it.',
    fields: {
      name,
      plaintext: f.secret('Base64 of the data to encrypt.'),
      context,
      key_version: keyVersion,
      associated_data: associatedData,
      type: f.string('The type of a key that is created.', { default: 'aes256-gcm96' }),
      convergent_encryption: f.bool(
        'Whether a key that is created encrypts the same plaintext in the same context to the same ciphertext.',
        {
          default: false,
        },
      ),
      partial_failure_response_code: partialFailure,
      batch_input: batchInput(['plaintext', 'context', 'associated_data', 'key_version']),
    },
  }).upsert({
    summary: 'Encrypts data, or a batch of them.',
    response: Encrypted,
    answers: { default: Encrypted },
    exists: async ({ data, storage }) => (await keys.find(storage, data.name)) !== undefined,
    handle: async (req) => {
      const { data, storage } = req;
      const batch = batchItems(data.batch_input, ['plaintext', 'context', 'associated_data', 'reference']);
      if (!batch && data.plaintext === undefined) throw new BadRequest('missing plaintext to encrypt');
      const items = batch ?? [
        soleItem({ plaintext: data.plaintext, context: data.context, associated_data: data.associated_data }, data.key_version),
      ];
      const missing = items.findIndex((item) => !item.texts.has('plaintext'));
      if (missing >= 0) throw new BadRequest(`failed to parse batch input: '[${missing}].plaintext' missing plaintext to encrypt`);
      const derived = contextsAgree(items);
      const key = (await keys.find(storage, data.name)) ?? (await madeForEncryption(keys, req, derived));
      const outcomes = await eachItem(req, items, costOf('plaintext'), async (item, position) =>
        encryptItem(keys, storage, key, item, position),
      );
      if (!batch) return { data: soleResult(outcomes) };
      return batchAnswer(
        outcomes.map((outcome, index) => batchResult(outcome, items[index]!)),
        outcomes,
        data.partial_failure_response_code,
      );
    },
  });
}

type Made = { readonly name: string; readonly type: string; readonly convergent_encryption: boolean };

async function madeForEncryption(
  keys: KeyStore,
  { data, storage, operation }: { data: Made; storage: StorageView; operation: string },
  derived: boolean,
): Promise<KeyRecord> {
  const convergent = data.convergent_encryption;
  if (convergent && !derived) throw new BadRequest('convergent encryption requires derivation to be enabled, so context is required');
  const type = keyType(data.type);
  if (!type) throw new BadRequest(`unknown key type ${data.type}`);
  if (type.family !== 'aead') throw new BadRequest(`key type ${data.type} not supported for this operation`);
  if (operation !== 'create' || (await settingsOf(storage)).disable_upsert) throw new BadRequest('encryption key not found');
  return (await keys.create(storage, data.name, { type, derived, convergent })).key;
}

async function encryptItem(
  keys: KeyStore,
  storage: StorageView,
  key: KeyRecord,
  item: Item,
  position: number,
): Promise<{ ciphertext: string; key_version: number }> {
  requireEncryption(key, 'encryption');
  const plaintext = decoded(item.texts.get('plaintext') ?? '');
  const parts = { plaintext, context: decoded(item.texts.get('context') ?? ''), associated: associatedOf(key, item, position) };
  const version = versionFor(key, item.version, 'encryption');
  const ciphertext = encryptWith(key, await keys.material(storage, key, version), version, parts, keys.randomBytes);
  return { ciphertext, key_version: version };
}

function decryptPath(keys: KeyStore): AnyPath {
  return path('decrypt/{name}', {
    synopsis: 'Decrypts data with a key.',
    description: 'The ciphertext names the version of the key. Versions below min_decryption_version decrypt nothing.',
    fields: {
      name,
      ciphertext: f.string('What encrypt answered.'),
      context,
      associated_data: associatedData,
      partial_failure_response_code: partialFailure,
      batch_input: batchInput(['ciphertext', 'context', 'associated_data']),
    },
  }).update({
    summary: 'Decrypts data, or a batch of them.',
    response: Decrypted,
    answers: { default: Decrypted },
    handle: async (req) => {
      const { data, storage } = req;
      const { items, batch } = ciphertextItems(
        data.batch_input,
        soleItem({ ciphertext: data.ciphertext, context: data.context, associated_data: data.associated_data }),
      );
      const key = await keys.usable(storage, data.name);
      const outcomes = await eachItem(req, items, costOf('ciphertext', key), async (item, position) => {
        const associated = associatedOf(key, item, position);
        return { plaintext: (await decryptItem(keys, storage, key, item, associated)).toString('base64') };
      });
      if (!batch) return { data: soleResult(outcomes) };
      return batchAnswer(
        outcomes.map((outcome, index) => batchResult(outcome, items[index]!, { plaintext: '' })),
        outcomes,
        data.partial_failure_response_code,
      );
    },
  });
}

function rewrapPath(keys: KeyStore): AnyPath {
  return path('rewrap/{name}', {
    synopsis: 'Encrypts ciphertexts again with a newer version of the key.',
    description: 'The plaintext is never shown. The new ciphertext has the same associated_data as the old one.',
    fields: {
      name,
      ciphertext: f.string('What encrypt answered.'),
      context,
      associated_data: associatedData,
      key_version: keyVersion,
      batch_input: batchInput(['ciphertext', 'context', 'associated_data', 'key_version']),
    },
  }).update({
    summary: 'Encrypts a ciphertext again, or a batch of them.',
    response: Encrypted,
    handle: async (req) => {
      const { data, storage } = req;
      const { items, batch } = ciphertextItems(
        data.batch_input,
        soleItem({ ciphertext: data.ciphertext, context: data.context, associated_data: data.associated_data }, data.key_version),
      );
      const key = await keys.usable(storage, data.name);
      const outcomes = await eachItem(req, items, costOf('ciphertext', key), async (item, position) => {
        const associated = associatedOf(key, item, position);
        const plaintext = await decryptItem(keys, storage, key, item, associated);
        const version = versionFor(key, item.version, 'encryption');
        const parts = { plaintext, context: decoded(item.texts.get('context') ?? ''), associated };
        return {
          ciphertext: encryptWith(key, await keys.material(storage, key, version), version, parts, keys.randomBytes),
          key_version: version,
        };
      });
      if (!batch) return { data: soleResult(outcomes) };
      return { data: { batch_results: outcomes.map((outcome, index) => batchResult(outcome, items[index]!)) as never[] } };
    },
  });
}

function dataKeyPath(keys: KeyStore): AnyPath {
  return path('datakey/{plaintext}/{name}', {
    synopsis: 'A new key for the caller to encrypt with, itself encrypted with a key of this mount.',
    description: 'plaintext answers the new key as it is and encrypted; wrapped answers only what is encrypted.',
    fields: {
      name,
      plaintext: f.name('plaintext or wrapped.'),
      context,
      bits: f.int('Bits of the new key: 128, 256 or 512.', { default: 256 }),
      key_version: keyVersion,
      associated_data: associatedData,
    },
  }).update({
    summary: 'Creates a data key.',
    response: Type.Object({
      ciphertext: Type.String(),
      key_version: Type.Integer(),
      plaintext: Type.Optional(Type.String({ secret: true })),
    }),
    handle: async ({ data, storage }) => {
      if (data.plaintext !== 'plaintext' && data.plaintext !== 'wrapped')
        throw new BadRequest("Invalid path, must be 'plaintext' or 'wrapped'");
      if (![128, 256, 512].includes(data.bits)) throw new BadRequest('invalid bit length: bits must be 128, 256 or 512');
      decoded(data.context ?? '', () => 'failed to base64-decode context');
      const key = await keys.usable(storage, data.name);
      const made = Buffer.from(keys.randomBytes(data.bits / 8)).toString('base64');
      const item = soleItem({ plaintext: made, context: data.context, associated_data: data.associated_data }, data.key_version);
      const sealed = await encryptItem(keys, storage, key, item, 0);
      return { data: { ...sealed, ...(data.plaintext === 'plaintext' ? { plaintext: made } : {}) } };
    },
  });
}

function ciphertextItems(input: readonly unknown[] | undefined, sole: Item): { readonly items: readonly Item[]; readonly batch: boolean } {
  const batch = batchItems(input, ['ciphertext', 'context', 'associated_data', 'reference']);
  if (!batch && (sole.texts.get('ciphertext') ?? '') === '') throw new BadRequest('missing ciphertext to decrypt');
  const items = batch ?? [sole];
  contextsAgree(items);
  return { items, batch: batch !== undefined };
}

async function decryptItem(keys: KeyStore, storage: StorageView, key: KeyRecord, item: Item, associated: Buffer): Promise<Buffer> {
  const text = item.texts.get('ciphertext') ?? '';
  if (text === '') throw new BadRequest('missing ciphertext to decrypt');
  const inContext = decoded(item.texts.get('context') ?? '');
  requireEncryption(key, 'decryption');
  const { version, body } = allowedVersion(key, text, 'ciphertext');
  return decryptWith(key, await keys.material(storage, key, version), { body, context: inContext, associated });
}

function requireEncryption(key: KeyRecord, noun: 'encryption' | 'decryption'): void {
  if (!encrypts(typeOf(key))) throw new BadRequest(`message ${noun} not supported for key type ${key.type}`);
  if (key.soft_deleted) throw new BadRequest('refusing to use soft-deleted key');
}

function associatedOf(key: KeyRecord, item: Item, position: number): Buffer {
  const text = item.texts.get('associated_data') ?? '';
  if (text !== '' && typeOf(key).family !== 'aead')
    throw new BadRequest(`'[${position}].associated_data' provided for non-AEAD cipher suite ${key.type}`);
  return decoded(text, (fault) => `unable to decode associated_data as base64: ${fault}`);
}

function costOf(field: string, key?: KeyRecord): (item: Item) => number {
  const slow = key?.type.startsWith('rsa') === true || key?.type.startsWith('xchacha') === true;
  return (item) => (slow ? COST.asymmetric : COST.symmetric(item.texts.get(field)?.length ?? 0));
}
