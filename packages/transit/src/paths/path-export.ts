import { BadRequest, f, path, type AnyPath, type EngineResponse, type StorageView } from '@strongroom/engine-sdk';
import { createPublicKey } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { encrypts, signs } from '../crypto/key-types.ts';
import { wrapKey } from '../crypto/key-wrap.ts';
import { ed25519Text, Material } from '../crypto/material.ts';
import { pem } from '../crypto/pem.ts';
import { requireLive, typeOf, type KeyStore } from '../keys/key-store.ts';
import { certificateChain } from '../keys/shown-key.ts';
import { versionId, versionRecords, type KeyRecord, type VersionRecord } from '../stored/records.ts';
import { name } from './shared-fields.ts';

const KINDS = ['encryption-key', 'signing-key', 'hmac-key', 'public-key', 'certificate-chain'] as const;
type Kind = (typeof KINDS)[number];

const Exported = Type.Object({
  name: Type.String(),
  type: Type.String(),
  keys: Type.Record(Type.String(), Type.String({ secret: true }), { description: 'The keys by their versions.' }),
});
const Wrapped = Type.Object({
  name: Type.String(),
  type: Type.String(),
  keys: Type.Record(Type.String(), Type.String(), { description: 'By version, in Base64, as keys/<name>/import takes them.' }),
});

/** `export` and `byok-export`. */
export function exportPaths(keys: KeyStore): AnyPath[] {
  const type = f.name(`What is exported: ${KINDS.join(', ')}.`);
  const version = f.name('A version, or latest. Without it, all that decrypt.');
  const about = {
    synopsis: 'The material of a key.',
    description: 'Only of keys that are exportable; public keys and certificates of any.',
  };
  const wrapped = {
    synopsis: 'A key, wrapped for another key.',
    description:
      'The destination is an RSA key, such as the wrapping key of another server, imported here as a public key. The result can be imported there.',
  };
  const destination = f.name('The RSA key that the key is wrapped for.');
  const source = f.name('The key that is exported.');
  return [
    path('export/{type}/{name}', { ...about, fields: { type, name } }).read({
      summary: 'Exports all versions of a key.',
      response: Exported,
      handle: async ({ data, storage }) => exported(keys, storage, data.type, data.name),
    }),
    path('export/{type}/{name}/{version:any}', { ...about, fields: { type, name, version } }).read({
      summary: 'Exports a version of a key.',
      response: Exported,
      handle: async ({ data, storage }) => exported(keys, storage, data.type, data.name, data.version),
    }),
    path('byok-export/{destination}/{source}', { ...wrapped, fields: { destination, source } }).read({
      summary: 'Exports all versions of a key, wrapped.',
      response: Wrapped,
      handle: async ({ data, storage }) => wrappedFor(keys, storage, data.destination, data.source),
    }),
    path('byok-export/{destination}/{source}/{version:any}', { ...wrapped, fields: { destination, source, version } }).read({
      summary: 'Exports a version of a key, wrapped.',
      response: Wrapped,
      handle: async ({ data, storage }) => wrappedFor(keys, storage, data.destination, data.source, data.version),
    }),
  ];
}

async function exported(
  keys: KeyStore,
  storage: StorageView,
  asked: string,
  of: string,
  version = '',
): Promise<EngineResponse<Static<typeof Exported>> | undefined> {
  const kind = KINDS.find((known) => known === asked);
  if (!kind) throw new BadRequest(`invalid export type: ${asked}; it must be one of ${KINDS.join(', ')}`);
  const key = await keys.find(storage, of);
  if (!key) return undefined;
  requireLive(key);
  const type = typeOf(key);
  if (kind !== 'public-key' && kind !== 'certificate-chain' && !key.exportable)
    throw new BadRequest('private key material is not exportable');
  if (kind === 'encryption-key' && !encrypts(type)) throw new BadRequest('encryption not supported for the key');
  if (kind === 'signing-key' && !signs(type)) throw new BadRequest('signing not supported for the key');
  if ((kind === 'public-key' || kind === 'certificate-chain') && !signs(type))
    throw new BadRequest(`unknown key type ${key.type} for export type ${kind}`);
  const versions = await chosen(keys, storage, key, version);
  const texts = versions.map(([number, record]): [string, string] => [String(number), exportedText(key, record, kind)]);
  return { data: { name: of, type: key.type, keys: Object.fromEntries(texts) } };
}

async function wrappedFor(
  keys: KeyStore,
  storage: StorageView,
  to: string,
  from: string,
  version = '',
): Promise<EngineResponse<Static<typeof Wrapped>>> {
  const destination = await keys.find(storage, to);
  if (!destination) throw new BadRequest('no such destination key to export to');
  requireLive(destination);
  if (typeOf(destination).family !== 'rsa') throw new BadRequest('unsupported key type in use; destination must be a rsa key');
  const source = await keys.find(storage, from);
  if (!source) throw new BadRequest('no such source key for export');
  requireLive(source);
  if (!source.exportable) throw new BadRequest('key is not exportable');
  const recipient = (await keys.material(storage, destination, destination.latest_version)).publicKey;
  const versions = await chosen(keys, storage, source, version);
  const texts = versions.map(([number, record]): [string, string] => [String(number), wrapKey(recipient, importable(source, record))]);
  return { data: { name: from, type: source.type, keys: Object.fromEntries(texts) } };
}

/** All versions that decrypt, or the one that was asked for. @throws BadRequest */
async function chosen(keys: KeyStore, storage: StorageView, key: KeyRecord, asked: string): Promise<[number, VersionRecord][]> {
  if (asked === '') return keys.versions(storage, key);
  if (asked !== 'latest' && !/^-?[0-9]{1,9}$/.test(asked)) throw new BadRequest('invalid key version: it must be a number, or latest');
  const number = asked === 'latest' ? key.latest_version : Number(asked);
  if (number < key.min_decryption_version) throw new BadRequest('version for export is below minimum decryption version');
  const record = await versionRecords(storage).get(versionId(key, number));
  if (!record) throw new BadRequest('version does not exist or cannot be found');
  return [[number, record]];
}

function exportedText(key: KeyRecord, version: VersionRecord, kind: Kind): string {
  const type = typeOf(key);
  if (kind === 'hmac-key') {
    if (version.hmac_key === undefined) throw new BadRequest('key version has no HMAC key');
    return version.hmac_key;
  }
  if (kind === 'certificate-chain') {
    if (!version.chain?.length) throw new BadRequest('selected key version does not have a certificate chain imported');
    return certificateChain(version);
  }
  if (kind === 'public-key') {
    if (key.derived) throw new BadRequest('a derived key has a public key for each context: read keys/<name> with context');
    const open = createPublicKey({ key: Buffer.from(version.public ?? '', 'base64'), format: 'der', type: 'spki' });
    return type.family === 'ed25519' ? ed25519Text(open) : trimmed(key, pem('PUBLIC KEY', Buffer.from(version.public ?? '', 'base64')));
  }
  if (type.family === 'aead' || type.family === 'ed25519') return requirePrivate(version.key);
  requirePrivate(version.private);
  const { privateKey } = new Material(type, version);
  if (type.family === 'rsa') return pem('RSA PRIVATE KEY', privateKey.export({ type: 'pkcs1', format: 'der' }));
  return trimmed(key, pem('EC PRIVATE KEY', privateKey.export({ type: 'sec1', format: 'der' })));
}

/** As clients know them: those of elliptic curves end without a line break. */
function trimmed(key: KeyRecord, text: string): string {
  return typeOf(key).family === 'ecdsa' ? text.trimEnd() : text;
}

/** As `keys/<name>/import` takes it. */
function importable(key: KeyRecord, version: VersionRecord): Buffer {
  const type = typeOf(key);
  if (type.family === 'aead' || type.family === 'hmac') return Buffer.from(requirePrivate(version.key), 'base64');
  requirePrivate(version.key ?? version.private);
  return new Material(type, version).privateKey.export({ type: 'pkcs8', format: 'der' });
}

function requirePrivate(part: string | undefined): string {
  if (part === undefined) throw new BadRequest('the key version has only a public key');
  return part;
}
