import { InternalError, leastJsonLength, writeJson, type Collection, type StorageView } from '@strongroom/engine-sdk';
import type { MountConfig } from './mount-config.ts';
import { withNewVersion } from './new-version.ts';
import { DataRecord, SecretRecord, versionOf, type SecretData, type VersionRecord } from './secret-record.ts';

/**
 * Data up to this many characters of JSON lies in the secret's own record, and moves into one of its own with the next version: that costs no more than
 * writing both. Larger data is written once. Earlier versions of this program put up to 8,192 there.
 */
const INLINE_LIMIT = 512;
const ATTEMPTS = 20;

type Storage = Pick<StorageView, 'collection'>;

/** Secrets of version 2, by path. */
export function secrets(storage: Storage): Collection<SecretRecord> {
  return storage.collection('secret/', SecretRecord);
}

function dataRecords(storage: Storage): Collection<DataRecord> {
  return storage.collection('version/', DataRecord);
}

export interface FoundVersion {
  readonly secret: SecretRecord;
  readonly version: VersionRecord;
  /** undefined where `wanted` turned it down. */
  readonly data: SecretData | undefined;
}

/**
 * A version of a secret, 0 for the current one, with its data if it is `wanted`; undefined when there is none.
 * Costs one read where the data is small and current, else two.
 */
export async function findVersion(
  storage: Storage,
  path: string,
  number: number,
  wanted: (version: VersionRecord) => boolean,
): Promise<FoundVersion | undefined> {
  return whileChanging(async () => {
    const secret = await secrets(storage).get(path);
    const version = secret && versionOf(secret, number === 0 ? secret.current_version : number);
    if (!version) return undefined;
    if (!wanted(version)) return { secret, version, data: undefined };
    const data = await dataOf(storage, path, secret, version);
    return data ? { secret, version, data } : 'changed';
  });
}

/** Data of a version that is not destroyed; undefined when the secret has changed since it was read. */
export async function dataOf(
  storage: Storage,
  path: string,
  secret: SecretRecord,
  version: VersionRecord,
): Promise<SecretData | undefined> {
  if (secret.latest && version.version === secret.current_version) return secret.latest;
  const slot = slotOf(version);
  const record = await dataRecords(storage).get(dataId(slot, path));
  return record?.created_time === version.created_time && (record.version ?? slot) === version.version ? record.data : undefined;
}

/** Starts over where what was read has changed meanwhile: a version destroyed or pruned, a secret deleted and made again. */
export async function whileChanging<T>(work: () => Promise<T | 'changed'>): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const result = await work();
    if (result !== 'changed') return result;
  }
  throw new InternalError('the data of a version is missing');
}

/**
 * Adds a version, and lets go of those that are too old. Data takes the place of theirs: to replace a record touches fewer pages of a store than to add one and delete
 * another. Within a transaction that has read `before`.
 */
export async function writeVersion(
  tx: Storage,
  path: string,
  change: { before: SecretRecord | undefined; data: SecretData; now: Date; config?: MountConfig },
): Promise<{ secret: SecretRecord; version: VersionRecord }> {
  const { before, data } = change;
  const { secret, pruned } = withNewVersion(before, change.now, change.config);
  const free = pruned.map(slotOf);
  const records = dataRecords(tx);
  const placed: VersionRecord[] = [];
  const place = async (kept: VersionRecord, value: SecretData): Promise<void> => {
    const { version, created_time } = kept;
    const slot = free.shift();
    if (slot === undefined) return records.put(dataId(version, path), { created_time, data: value });
    placed.push({ ...kept, slot });
    return records.put(dataId(slot, path), { version, created_time, data: value });
  };
  const moved = before?.latest && versionOf(secret, before.current_version);
  if (moved) await place(moved, before.latest!);
  const small = isSmall(data);
  if (!small) await place(versionOf(secret, secret.current_version)!, data);
  for (const slot of free) await records.delete(dataId(slot, path));
  const versions = secret.versions.map((known) => placed.find(({ version }) => version === known.version) ?? known);
  const written: SecretRecord = { ...secret, versions, ...(small ? { latest: data } : {}) };
  await secrets(tx).put(path, written);
  return { secret: written, version: versionOf(written, written.current_version)! };
}

/** A large value is not written a second time just to be measured. */
function isSmall(data: SecretData): boolean {
  return leastJsonLength(data, INLINE_LIMIT) <= INLINE_LIMIT && writeJson(data).length <= INLINE_LIMIT;
}

/** Stores the secret as it is given, instead of `before`. `data` is that of every version that has any. Within a transaction. */
export async function putSecret(
  tx: Storage,
  path: string,
  change: { before: SecretRecord | undefined; secret: SecretRecord; data: ReadonlyMap<number, SecretData> },
): Promise<SecretRecord> {
  const { before, data } = change;
  const secret = { ...change.secret, versions: change.secret.versions.map(({ slot: _slot, ...version }) => version) };
  for (const slot of (before?.versions ?? []).map(slotOf)) if (!data.has(slot)) await dataRecords(tx).delete(dataId(slot, path));
  const current = data.get(secret.current_version);
  const latest = current && isSmall(current) ? current : undefined;
  for (const { version, created_time } of secret.versions) {
    const value = data.get(version);
    if (!value) continue;
    if (value === latest) await dataRecords(tx).delete(dataId(version, path));
    else await dataRecords(tx).put(dataId(version, path), { created_time, data: value });
  }
  await secrets(tx).put(path, latest ? { ...secret, latest } : secret);
  return secret;
}

/** Changes versions by number, or the current one; unknown and destroyed ones are passed over. Within a transaction. Resolves with whether any changed. */
export async function changeVersions(
  tx: Storage,
  path: string,
  numbers: readonly number[] | 'current',
  change: (version: VersionRecord) => VersionRecord,
): Promise<boolean> {
  const secret = await secrets(tx).get(path);
  if (!secret) return false;
  const asked = new Set(numbers === 'current' ? [secret.current_version] : numbers);
  let { latest } = secret;
  let changed = false;
  const versions: VersionRecord[] = [];
  for (const version of secret.versions) {
    const next = asked.has(version.version) && !version.destroyed ? change(version) : version;
    versions.push(next);
    if (next === version) continue;
    changed = true;
    if (!next.destroyed) continue;
    if (version.version === secret.current_version) latest = undefined;
    await dataRecords(tx).delete(dataId(slotOf(version), path));
  }
  if (!changed) return false;
  const { latest: _data, ...rest } = secret;
  await secrets(tx).put(path, { ...rest, versions, ...(latest ? { latest } : {}) });
  return true;
}

/** Removes the secret with all its versions. Within a transaction. Resolves with whether there was one. */
export async function deleteSecret(tx: Storage, path: string): Promise<boolean> {
  const secret = await secrets(tx).get(path);
  if (!secret) return false;
  for (const version of secret.versions) if (!version.destroyed) await dataRecords(tx).delete(dataId(slotOf(version), path));
  await secrets(tx).delete(path);
  return true;
}

function slotOf({ version, slot = version }: VersionRecord): number {
  return slot;
}

function dataId(slot: number, path: string): string {
  return `${slot}/${path}`;
}
