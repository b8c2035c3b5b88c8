import { BadRequest, type EngineHost, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Material } from '../crypto/material.ts';
import { newVersion } from '../crypto/new-version.ts';
import { keyType, type KeyType } from '../crypto/key-types.ts';
import { planRotation, replanRotation } from './rotation-plan.ts';
import type { KeyContent } from './backup.ts';
import { keyRecords, settingsOf, versionId, versionOfId, versionRecords, type KeyRecord, type VersionRecord } from '../stored/records.ts';

/** How many versions stay decoded where the mount sets no other number. */
const DEFAULT_DECODED = 10_000;

/** What a new key is asked to be. */
export interface NewKey {
  readonly type: KeyType;
  readonly keySize?: number;
  readonly derived?: boolean;
  readonly convergent?: boolean;
  readonly exportable?: boolean;
  readonly allowPlaintextBackup?: boolean;
  readonly autoRotatePeriod?: number;
  readonly imported?: { readonly version: VersionRecord; readonly allowRotation: boolean };
}

/** The keys of a mount. What is decoded is kept by the id of the key and never changes, so that no process needs word from another. */
export class KeyStore {
  /** As the host's. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly #host: EngineHost;
  readonly #decoded = new Map<string, Material>();
  #limit = DEFAULT_DECODED;

  constructor(host: EngineHost) {
    this.#host = host;
    this.randomBytes = (count) => host.randomBytes(count);
  }

  async open(): Promise<void> {
    this.limit((await settingsOf(this.#host.storage)).cache_size);
  }

  /** How many versions stay decoded; 0 for the default. */
  limit(size: number): void {
    this.#limit = size === 0 ? DEFAULT_DECODED : size;
    this.#trimDecoded();
  }

  close(): void {
    this.#decoded.clear();
  }

  async find(storage: Pick<StorageView, 'collection'>, name: string): Promise<KeyRecord | undefined> {
    return keyRecords(storage).get(name);
  }

  /** A key that is used. @throws BadRequest with `missing`, or for one that is deleted softly */
  async usable(storage: StorageView, name: string, missing = 'encryption key not found'): Promise<KeyRecord> {
    const key = await this.find(storage, name);
    if (!key) throw new BadRequest(missing);
    requireLive(key);
    return key;
  }

  /** @throws BadRequest for a version that there is not */
  async material(storage: StorageView, key: KeyRecord, version: number): Promise<Material> {
    if (version < key.min_decryption_version || version > key.latest_version) throw new BadRequest('no such key version');
    const id = versionId(key, version);
    const place = `${key.revised}/${id}`;
    const known = this.#decoded.get(place);
    if (known) return known;
    const record = await versionRecords(storage).get(id);
    if (!record) throw new BadRequest('no such key version');
    const material = new Material(typeOf(key), record);
    this.#decoded.set(place, material);
    this.#trimDecoded();
    return material;
  }

  /** The versions that can be used, in order. */
  async versions(
    storage: Pick<StorageView, 'collection'>,
    key: KeyRecord,
    least = key.min_decryption_version,
  ): Promise<[number, VersionRecord][]> {
    const found = await versionRecords(storage).entries({ prefix: `${key.id}/`, after: versionId(key, least - 1) });
    return found.map(([id, record]) => [versionOfId(id), record]);
  }

  /** Makes a key unless there is one of this name. */
  async create(storage: StorageView, name: string, asked: NewKey): Promise<{ readonly key: KeyRecord; readonly created: boolean }> {
    const existing = await this.find(storage, name);
    if (existing) return { key: existing, created: false };
    const version = asked.imported?.version ?? (await newVersion(asked.type, this.#host.clock.now(), asked.keySize));
    const id = this.newId();
    return storage.transaction(async (tx) => {
      const before = await this.find(tx, name);
      if (before) return { key: before, created: false };
      const key: KeyRecord = {
        id,
        type: asked.type.name,
        ...(asked.type.family === 'hmac' ? { key_size: asked.keySize ?? 32 } : {}),
        derived: asked.derived === true,
        convergent: asked.convergent === true,
        exportable: asked.exportable === true,
        allow_plaintext_backup: asked.allowPlaintextBackup === true,
        deletion_allowed: false,
        auto_rotate_period: asked.autoRotatePeriod ?? 0,
        min_decryption_version: 1,
        min_encryption_version: 0,
        min_available_version: 0,
        latest_version: 1,
        imported: asked.imported !== undefined,
        allow_imported_rotation: asked.imported?.allowRotation === true,
        soft_deleted: false,
        revised: 0,
      };
      await versionRecords(tx).put(versionId(key, 1), version);
      await keyRecords(tx).put(name, key);
      await planRotation(tx, name, key, version.created);
      return { key, created: true };
    });
  }

  /** Adds a version. `only`: unless the key has another id or more versions by then. Resolves with undefined where nothing was added. */
  async rotate(storage: StorageView, name: string, before: KeyRecord, only = false): Promise<KeyRecord | undefined> {
    requireLive(before);
    if (before.imported && !before.allow_imported_rotation)
      throw new BadRequest(`imported key ${name} does not allow rotation by the server`);
    const version = await newVersion(typeOf(before), this.#host.clock.now(), before.key_size);
    return storage.transaction(async (tx) => {
      const key = await this.find(tx, name);
      if (key?.id !== before.id) {
        if (only) return undefined;
        throw new BadRequest('key not found');
      }
      requireLive(key);
      if (only && key.latest_version !== before.latest_version) return undefined;
      return this.append(tx, name, { ...key, imported: false }, version);
    });
  }

  /** Within a transaction that has read the key. */
  async append(tx: Transaction, name: string, key: KeyRecord, version: VersionRecord): Promise<KeyRecord> {
    const next = { ...key, latest_version: key.latest_version + 1 };
    await versionRecords(tx).put(versionId(next, next.latest_version), version);
    await keyRecords(tx).put(name, next);
    await planRotation(tx, name, next, version.created);
    return next;
  }

  /** Stores a key. Within a transaction that has read it. */
  async store(tx: Transaction, name: string, key: KeyRecord): Promise<void> {
    await keyRecords(tx).put(name, key);
  }

  /** Changes the settings of a key; undefined where there is none. */
  async change(
    storage: StorageView,
    name: string,
    change: (key: KeyRecord, tx: Transaction) => KeyRecord | Promise<KeyRecord>,
  ): Promise<KeyRecord | undefined> {
    return storage.transaction(async (tx) => {
      const key = await this.find(tx, name);
      if (!key) return undefined;
      const next = await change(key, tx);
      await this.store(tx, name, next);
      return next;
    });
  }

  /** Removes the versions of a key from `least` to before `end`. Within a transaction. */
  async dropVersions(tx: Transaction, key: KeyRecord, end = Infinity): Promise<void> {
    for (const id of await versionRecords(tx).list({ prefix: `${key.id}/` }))
      if (versionOfId(id) < end) await versionRecords(tx).delete(id);
  }

  /** Stores a key with its versions in place of what has the name. @throws BadRequest unless `force` where there is one */
  async restore(
    storage: StorageView,
    name: string,
    { key, versions }: Pick<KeyContent, 'key' | 'versions'>,
    force: boolean,
  ): Promise<void> {
    await storage.transaction(async (tx) => {
      const before = await this.find(tx, name);
      if (before && !force) throw new BadRequest(`key ${JSON.stringify(name)} already exists: set force to replace it`);
      if (before) await this.dropVersions(tx, before);
      for (const [number, version] of versions) await versionRecords(tx).put(versionId(key, number), version);
      await this.store(tx, name, key);
      await replanRotation(tx, name, key);
    });
  }

  newId(): string {
    return Buffer.from(this.randomBytes(16)).toString('hex');
  }

  #trimDecoded(): void {
    for (const place of this.#decoded.keys()) {
      if (this.#decoded.size <= this.#limit) return;
      this.#decoded.delete(place);
    }
  }
}

/** @throws Error for a record of a type that this version does not know */
export function typeOf(key: Pick<KeyRecord, 'type'>): KeyType {
  const type = keyType(key.type);
  if (!type) throw new Error(`this version knows no key type ${key.type}`);
  return type;
}

export function requireLive(key: KeyRecord): void {
  if (key.soft_deleted) throw new BadRequest('refusing to use soft-deleted key');
}
