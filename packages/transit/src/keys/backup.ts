import type { EngineRequest } from '@strongroom/engine-sdk';
import { ExactNumber, readJson, writeJson } from '@strongroom/engine-sdk/json';
import { createECDH, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { fromBase64 } from '../crypto/base64.ts';
import { HMAC_KEY_BYTES, keyTypeOfCode, type KeyType } from '../crypto/key-types.ts';
import { ed25519Private, ed25519Text, Material } from '../crypto/material.ts';
import { CURVES } from '../crypto/imported-version.ts';
import { COST, Turns } from '../crypto/turns.ts';
import { ed25519Parts, ed25519Spki, pairParts } from '../crypto/new-version.ts';
import { pem } from '../crypto/pem.ts';
import type { KeyRecord, VersionRecord } from '../stored/records.ts';

/** A text that is no backup. The message says why. */
export class NotABackup extends Error {
  override readonly name = 'NotABackup';
}

const MOST_VERSIONS = 100_000;
/** Derivation by HKDF with SHA-256; 0 is a counter mode that no server makes any more. */
const HKDF = 1;
const CONVERGENT_VERSION = 3;
/** In nanoseconds: an hour, and what 64 bits hold. */
const PERIOD = { least: 3_600_000_000_000n, most: 2n ** 63n - 1n } as const;

/** A key with its versions by number, as they are stored. */
export interface KeyContent {
  readonly name: string;
  readonly key: KeyRecord;
  readonly versions: readonly (readonly [number, VersionRecord])[];
}

/** A key in the form in which Vault and OpenBao back keys up, in Base64. It holds all private keys in clear. */
export async function backupText(
  type: KeyType,
  { name, key, versions }: KeyContent,
  caller: Pick<EngineRequest, 'signal'>,
): Promise<string> {
  const turns = new Turns();
  const entries: [number, object][] = [];
  for (const [number, version] of versions) {
    await turns.take(type.family === 'aead' ? 1 : COST.asymmetric, caller);
    entries.push([number, entryOf(type, key, version)]);
  }
  const least = key.min_decryption_version;
  // The place of a version counts from the first one that was not trimmed; before any trimming place 0 is empty.
  const archived = Array.from({ length: key.latest_version - key.min_available_version + 1 }, (): object => EMPTY);
  for (const [number, entry] of entries) archived[number - key.min_available_version] = entry;
  const policy = {
    name,
    ...(key.key_size === undefined ? {} : { key_size: key.key_size }),
    keys: Object.fromEntries(entries.filter(([number]) => number >= least).map(([number, entry]) => [String(number), entry])),
    derived: key.derived,
    kdf: key.derived ? HKDF : 0,
    convergent_encryption: key.convergent,
    exportable: key.exportable,
    min_decryption_version: key.min_decryption_version,
    min_encryption_version: key.min_encryption_version,
    latest_version: key.latest_version,
    archive_version: key.latest_version,
    archive_min_version: key.min_available_version,
    min_available_version: key.min_available_version,
    deletion_allowed: key.deletion_allowed,
    convergent_version: key.convergent ? -1 : 0,
    type: type.code,
    backup_info: key.backup_info ?? null,
    restore_info: key.restore_info ?? null,
    allow_plaintext_backup: key.allow_plaintext_backup,
    version_template: '',
    storage_prefix: '',
    // In nanoseconds, beyond what a float holds.
    auto_rotate_period: new ExactNumber(String(BigInt(key.auto_rotate_period) * 1_000_000_000n)),
    Imported: key.imported,
    AllowImportedKeyRotation: key.allow_imported_rotation,
    soft_deleted: key.soft_deleted,
  };
  return Buffer.from(`${writeJson({ policy, archived_keys: { keys: archived } })}\n`).toString('base64');
}

/** Reads a backup, and lets other requests run meanwhile. `id`: of the new key. @throws NotABackup */
export async function readBackup(text: string, id: string, caller: Pick<EngineRequest, 'signal'>): Promise<KeyContent> {
  const document = record(parsed(text), 'the backup');
  const policy = record(document['policy'], 'policy');
  const type = keyTypeOfCode(int(policy, 'type'));
  if (!type) throw new NotABackup(`policy.type is ${int(policy, 'type')}, which is no type of key`);
  const latest = int(policy, 'latest_version');
  if (latest < 1 || latest > MOST_VERSIONS) throw new NotABackup(`policy.latest_version must be from 1 to ${MOST_VERSIONS}`);
  const derived = flag(policy, 'derived');
  const convergent = flag(policy, 'convergent_encryption');
  if (derived && int(policy, 'kdf') !== HKDF) throw new NotABackup('policy.kdf is not HKDF with SHA-256, which alone is supported');
  if (convergent && !derived) throw new NotABackup('policy.convergent_encryption needs policy.derived');
  if (derived && type.family !== 'aead' && type.family !== 'ed25519')
    throw new NotABackup(`policy.derived does not fit the type ${type.name}`);
  const archived = list(document['archived_keys']);
  const own = record(policy['keys'] ?? {}, 'policy.keys');
  const versions: [number, VersionRecord][] = [];
  const available = int(policy, 'min_available_version');
  const turns = new Turns();
  for (let number = Math.max(1, available); number <= latest; number += 1) {
    await turns.take(type.family === 'aead' ? 1 : COST.asymmetric, caller);
    const entry = own[String(number)] ?? archived[number - int(policy, 'archive_min_version')];
    if (entry === undefined) throw new NotABackup(`version ${number} is missing`);
    versions.push([number, versionOf(type, derived, record(entry, `version ${number}`), `version ${number}`, convergent)]);
  }
  const decryption = Math.max(1, int(policy, 'min_decryption_version'));
  const encryption = int(policy, 'min_encryption_version');
  if (decryption > latest || encryption > latest || available > latest)
    throw new NotABackup('policy.min_decryption_version, min_encryption_version and min_available_version must not exceed latest_version');
  if (available > decryption) throw new NotABackup('policy.min_available_version must not exceed min_decryption_version');
  const key: KeyRecord = {
    id,
    type: type.name,
    ...(type.family === 'hmac' ? { key_size: hmacBytes(int(policy, 'key_size') || HMAC_KEY_BYTES.least, 'policy.key_size') } : {}),
    derived,
    convergent,
    exportable: flag(policy, 'exportable'),
    allow_plaintext_backup: flag(policy, 'allow_plaintext_backup'),
    deletion_allowed: flag(policy, 'deletion_allowed'),
    auto_rotate_period: rotationSeconds(policy),
    min_decryption_version: decryption,
    min_encryption_version: encryption,
    min_available_version: available,
    latest_version: latest,
    imported: flag(policy, 'Imported'),
    allow_imported_rotation: flag(policy, 'AllowImportedKeyRotation'),
    soft_deleted: flag(policy, 'soft_deleted'),
    revised: 0,
    ...moment(policy, 'backup_info'),
  };
  return { name: typeof policy['name'] === 'string' ? policy['name'] : '', key, versions };
}

const EMPTY = {
  key: null,
  hmac_key: null,
  time: '0001-01-01T00:00:00Z',
  ec_x: null,
  ec_y: null,
  ec_d: null,
  rsa_key: null,
  rsa_public_key: null,
  public_key: '',
  convergent_version: 0,
  creation_time: 0,
  certificate_chain: null,
  external_key_ref: '',
};

function entryOf(type: KeyType, key: KeyRecord, version: VersionRecord): object {
  const entry = {
    ...EMPTY,
    key: version.key ?? null,
    hmac_key: version.hmac_key ?? null,
    time: version.created,
    convergent_version: key.convergent ? CONVERGENT_VERSION : 0,
    creation_time: Math.floor(Date.parse(version.created) / 1_000),
    certificate_chain: version.chain ?? null,
  };
  if (version.public === undefined) return entry;
  const material = new Material(type, version);
  if (type.family === 'ed25519') return { ...entry, public_key: ed25519Text(material.publicKey) };
  const jwk = (material.isPublicOnly ? material.publicKey : material.privateKey).export({ format: 'jwk' });
  if (type.family === 'ecdsa') {
    const public_key = pem('PUBLIC KEY', Buffer.from(version.public, 'base64'));
    return { ...entry, ec_x: big(jwk.x), ec_y: big(jwk.y), ec_d: material.isPublicOnly ? null : big(jwk.d), public_key };
  }
  const open = { N: big(jwk.n), E: big(jwk.e) };
  if (material.isPublicOnly) return { ...entry, rsa_public_key: open };
  const precomputed = { Dp: big(jwk.dp), Dq: big(jwk.dq), Qinv: big(jwk.qi), CRTValues: [] };
  return { ...entry, rsa_key: { ...open, D: big(jwk.d), Primes: [big(jwk.p), big(jwk.q)], Precomputed: precomputed } };
}

function versionOf(type: KeyType, derived: boolean, entry: Record<string, unknown>, where: string, convergent: boolean): VersionRecord {
  if (convergent && int(entry, 'convergent_version') !== CONVERGENT_VERSION)
    throw new NotABackup(`${where}.convergent_version is ${int(entry, 'convergent_version')}: only ${CONVERGENT_VERSION} is supported`);
  const created = typeof entry['time'] === 'string' ? entry['time'] : '';
  if (Number.isNaN(Date.parse(created))) throw new NotABackup(`${where}.time must be a date of RFC 3339`);
  const shared = {
    created,
    ...(typeof entry['hmac_key'] === 'string' ? { hmac_key: bytes(entry, 'hmac_key', where).toString('base64') } : {}),
    ...(Array.isArray(entry['certificate_chain']) ? { chain: entry['certificate_chain'].map((der) => chained(der, where)) } : {}),
  };
  const key = (): Buffer => bytes(entry, 'key', where);
  try {
    if (type.family === 'aead') {
      if (key().length !== type.keyBytes) throw new NotABackup(`${where}.key must have ${type.keyBytes} bytes`);
      return { ...shared, key: key().toString('base64') };
    }
    if (type.family === 'hmac') {
      hmacBytes(key().length, `the length of ${where}.key`);
      return { ...shared, key: key().toString('base64') };
    }
    if (type.family === 'ed25519') {
      if (entry['key'] !== null && entry['key'] !== undefined) return { ...shared, ...ed25519Parts(ed25519Private(key().subarray(0, 32))) };
      if (derived) throw new NotABackup(`${where}.key is missing`);
      return { ...shared, public: ed25519Spki(bytes(entry, 'public_key', where)).toString('base64') };
    }
    if (type.family === 'ecdsa') {
      const size = type.curve === 'P-521' ? 66 : Number(type.curve.slice(2)) / 8;
      const jwk = { kty: 'EC', crv: type.curve, x: number(entry, 'ec_x', where, size), y: number(entry, 'ec_y', where, size) };
      const open = createPublicKey({ key: jwk, format: 'jwk' });
      if (entry['ec_d'] === null || entry['ec_d'] === undefined) return { ...shared, ...pairParts(undefined, open) };
      const d = number(entry, 'ec_d', where, size);
      const point = createECDH(CURVES.get(type.curve)!);
      point.setPrivateKey(Buffer.from(d, 'base64url'));
      const belongs = point
        .getPublicKey()
        .equals(Buffer.concat([Buffer.of(4), Buffer.from(jwk.x, 'base64url'), Buffer.from(jwk.y, 'base64url')]));
      if (!belongs) throw new NotABackup(`${where}.ec_d does not belong to ec_x and ec_y`);
      return { ...shared, ...pairParts(createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }), open) };
    }
    if (entry['rsa_key'] === null || entry['rsa_key'] === undefined) {
      const rsa = record(entry['rsa_public_key'], `${where}.rsa_public_key`);
      const open = createPublicKey({ key: { kty: 'RSA', n: number(rsa, 'N', where), e: number(rsa, 'E', where) }, format: 'jwk' });
      requireBits(type.bits, open, `${where}.rsa_public_key`);
      return { ...shared, ...pairParts(undefined, open) };
    }
    const rsa = record(entry['rsa_key'], `${where}.rsa_key`);
    const [p, q] = list(rsa['Primes']);
    const crt = record(rsa['Precomputed'], `${where}.rsa_key.Precomputed`);
    const own = createPrivateKey({
      key: {
        kty: 'RSA',
        n: number(rsa, 'N', where),
        e: number(rsa, 'E', where),
        d: number(rsa, 'D', where),
        p: number({ p }, 'p', where),
        q: number({ q }, 'q', where),
        dp: number(crt, 'Dp', where),
        dq: number(crt, 'Dq', where),
        qi: number(crt, 'Qinv', where),
      },
      format: 'jwk',
    });
    const open = createPublicKey(own);
    if (!agrees(rsa, p, q, crt)) throw new NotABackup(`${where}.rsa_key is not of one piece`);
    requireBits(type.bits, open, `${where}.rsa_key`);
    return { ...shared, ...pairParts(own, open) };
  } catch (error) {
    if (error instanceof NotABackup) throw error;
    // Node says why in words of OpenSSL, which may show parts of the key.
    throw new NotABackup(`${where} is no key of the type ${type.name}`);
  }
}

function requireBits(bits: number, key: KeyObject, where: string): void {
  if (key.asymmetricKeyDetails?.modulusLength !== bits) throw new NotABackup(`${where} must have ${bits} bits`);
}

function hmacBytes(count: number, where: string): number {
  const { least, most } = HMAC_KEY_BYTES;
  if (count < least || count > most) throw new NotABackup(`${where} must be from ${least} to ${most}`);
  return count;
}

/** The period is in nanoseconds there. */
function rotationSeconds(policy: Record<string, unknown>): number {
  const period = BigInt(digits(policy['auto_rotate_period'] ?? 0, 'policy.auto_rotate_period'));
  if (period !== 0n && (period < PERIOD.least || period > PERIOD.most))
    throw new NotABackup('policy.auto_rotate_period must be 0, or at least an hour in nanoseconds that fit in 64 bits');
  return Number(period / 1_000_000_000n);
}

/** Whether the numbers of an RSA key belong together; Node takes any. RFC 8017, section 3.2. */
function agrees(rsa: Record<string, unknown>, p: unknown, q: unknown, crt: Record<string, unknown>): boolean {
  const read = (value: unknown): bigint => BigInt(digits(value, 'a number of the key'));
  const [n, e, d, first, second] = [rsa['N'], rsa['E'], rsa['D'], p, q].map(read) as [bigint, bigint, bigint, bigint, bigint];
  return (
    n === first * second &&
    (e * d) % (first - 1n) === 1n &&
    (e * d) % (second - 1n) === 1n &&
    read(crt['Dp']) === d % (first - 1n) &&
    read(crt['Dq']) === d % (second - 1n) &&
    (read(crt['Qinv']) * second) % first === 1n
  );
}

function parsed(text: string): unknown {
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text)) throw new NotABackup('the backup must be Base64, as backup answers it');
  try {
    return readJson(Buffer.from(text, 'base64'));
  } catch {
    throw new NotABackup('the backup must hold JSON, as backup answers it');
  }
}

function record(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new NotABackup(`${where} must be an object`);
  return Object.assign(Object.create(null) as Record<string, unknown>, value);
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const keys = typeof value === 'object' && value !== null ? (value as { keys?: unknown }).keys : undefined;
  return Array.isArray(keys) ? keys : [];
}

function int(from: Record<string, unknown>, field: string): number {
  const value = from[field] ?? 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new NotABackup(`${field} must be a whole number, at least 0`);
  return value;
}

function flag(from: Record<string, unknown>, field: string): boolean {
  const value = from[field] ?? false;
  if (typeof value !== 'boolean') throw new NotABackup(`${field} must be true or false`);
  return value;
}

function bytes(from: Record<string, unknown>, field: string, where: string): Buffer {
  const value = from[field];
  if (typeof value !== 'string' || value === '') throw new NotABackup(`${where}.${field} must be Base64`);
  try {
    return fromBase64(value);
  } catch {
    throw new NotABackup(`${where}.${field} must be Base64`);
  }
}

function chained(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new NotABackup(`${where}.certificate_chain must hold Base64`);
  return value;
}

function digits(value: unknown, where: string): string {
  const text = value instanceof ExactNumber ? value.text : typeof value === 'number' ? String(value) : '';
  if (!/^[0-9]{1,5000}$/.test(text)) throw new NotABackup(`${where} must be a whole number`);
  return text;
}

/** A number of a backup as JWK has it: bytes in Base64, as many as `size` if given. */
function number(from: Record<string, unknown>, field: string, where: string, size = 0): string {
  const hex = BigInt(digits(from[field], `${where}.${field}`)).toString(16);
  const even = hex.padStart(Math.max(hex.length + (hex.length % 2), size * 2), '0');
  return Buffer.from(even, 'hex').toString('base64url');
}

function big(text: string | undefined): ExactNumber | number {
  const exact = BigInt(`0x${Buffer.from(text ?? '', 'base64url').toString('hex') || '0'}`).toString();
  return ExactNumber.needed(exact) ? new ExactNumber(exact) : Number(exact);
}

function moment(from: Record<string, unknown>, field: 'backup_info'): Partial<Pick<KeyRecord, 'backup_info'>> {
  const value = from[field];
  if (typeof value !== 'object' || value === null) return {};
  const { time, version } = value as { time?: unknown; version?: unknown };
  return typeof time === 'string' && typeof version === 'number' && Number.isSafeInteger(version) ? { [field]: { time, version } } : {};
}
