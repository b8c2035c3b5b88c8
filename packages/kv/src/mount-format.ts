import { BadRequest, mapConcurrently, type EngineHost, type Schedule, type StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { FormatGuard } from './format-guard.ts';
import { refuseDowngrade, versionOf } from './mount-options.ts';
import { plainSecrets } from './v1/plain-secrets.ts';
import { writeVersion } from './v2/secret-store.ts';

/** Stored once a mount is, or becomes, versioned; no record means version 1. */
const FormatRecord = Type.Object({ version: Type.Literal(2), upgrading: Type.Boolean() });
const ID = 'format';

const UPGRADING =
  'Upgrading from non-versioned to versioned data. This backend will be unavailable for a brief period and will resume service shortly.';

const PAGE = 256;
/** Moves under way at once: their commits share a flush. */
const CONCURRENCY = 16;
/** When the scheduled job takes up an upgrade that its process did not finish. */
const TAKE_UP_MILLIS = 60_000;

const UpgradeEntry = Type.Object({});

type Storage = Pick<StorageView, 'collection'>;
const formats = (storage: Storage) => storage.collection('setting/', FormatRecord);

/**
 * Which version the stored data has, and the way from 1 to 2: the marker is committed first, and every write of version 1 expects
 * that there is none, so nothing is written behind the upgrade by a process that does not know of it. Then each secret moves in a
 * transaction of its own. Whatever stops the upgrade, the marker says that it is unfinished: the next start, another process and
 * a scheduled job all take it up.
 */
export class MountFormat implements FormatGuard {
  readonly #host: EngineHost;
  #mode: 'plain' | 'upgrading' | 'versioned';
  #closed = false;
  #upgrade: Promise<void> | undefined;

  constructor(host: EngineHost) {
    this.#host = host;
    this.#mode = versionOf(host.mount.options) === '2' ? 'upgrading' : 'plain';
  }

  get versioned(): boolean {
    return this.#mode !== 'plain';
  }

  /** Before the first request. */
  async open(): Promise<void> {
    const record = await formats(this.#host.storage).get(ID);
    if (record) this.#mode = record.upgrading ? 'upgrading' : 'versioned';
    else if (this.#mode === 'upgrading') await this.#begin();
    await this.#proceed();
  }

  /** @throws BadRequest when the mount's options ask for version 1 and the data has version 2 */
  async tuned(): Promise<void> {
    const wanted = versionOf(this.#host.mount.options);
    if (this.versioned && wanted === '1') refuseDowngrade();
    if (this.versioned || wanted === '1') return;
    await this.#begin();
    this.#mode = 'upgrading';
    await this.#proceed();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#upgrade;
  }

  /** Lets requests of version 2 pass once the data has that version. @throws BadRequest during the upgrade */
  async requireVersioned(): Promise<void> {
    if (this.#mode === 'versioned') return;
    const record = await formats(this.#host.storage).get(ID);
    if (record?.upgrading !== false) throw new BadRequest(UPGRADING);
    this.#mode = 'versioned';
  }

  /** Lets requests of version 1 pass; in a transaction the commit then depends on it. @throws BadRequest when an upgrade has begun, in whatever process */
  async requirePlain(storage: Storage): Promise<void> {
    if (!(await formats(storage).get(ID))) return;
    this.#mode = 'upgrading';
    throw new BadRequest(UPGRADING);
  }

  /** Finishes an upgrade that the process that began it could not. */
  readonly upgradeJob: Schedule<typeof UpgradeEntry> = {
    kind: 'upgrade',
    entry: UpgradeEntry,
    run: async (_entry, _storage, signal) => {
      while (!(await this.#step(signal))) if (signal.aborted || this.#closed) return this.#host.clock.now();
      return undefined;
    },
  };

  async #begin(): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      if (await formats(tx).get(ID)) return;
      await formats(tx).put(ID, { version: 2, upgrading: true });
      if ((await plainSecrets(tx).list({ limit: 1 })).length === 0) return;
      await tx.schedule(this.upgradeJob, ID, new Date(this.#host.clock.millis() + TAKE_UP_MILLIS), {});
    });
  }

  /** The first page is waited for, so that a new or small mount is ready at once; the rest goes on behind the requests. */
  async #proceed(): Promise<void> {
    if (this.#mode !== 'upgrading' || (await this.#step())) return;
    this.#upgrade ??= this.#carryOn();
  }

  async #carryOn(): Promise<void> {
    try {
      while (!this.#closed) if (await this.#step()) return;
    } catch (error) {
      this.#host.log.warn('the upgrade to versioned data was interrupted and is resumed', { error: String(error) });
    } finally {
      this.#upgrade = undefined;
    }
  }

  /** Moves a page of secrets; true when none is left. None is added meanwhile, because the marker stands. */
  async #step(signal?: AbortSignal): Promise<boolean> {
    const { storage } = this.#host;
    const ids = await plainSecrets(storage).list({ limit: PAGE });
    const stopped = (): boolean => this.#closed || signal?.aborted === true;
    await mapConcurrently(ids, CONCURRENCY, async (id) => {
      if (!stopped()) await this.#move(id);
    });
    if (ids.length === PAGE || stopped()) return false;
    await storage.transaction(async (tx) => {
      const record = await formats(tx).get(ID);
      if (record?.upgrading !== true) return;
      await formats(tx).put(ID, { version: 2, upgrading: false });
      await tx.unschedule(this.upgradeJob, ID);
    });
    this.#mode = 'versioned';
    return true;
  }

  /** A secret becomes the first version of itself; one that another process has moved is unchanged. */
  async #move(id: string): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const data = await plainSecrets(tx).get(id);
      if (data === undefined) return;
      await writeVersion(tx, id, { before: undefined, data, now: this.#host.clock.now() });
      await plainSecrets(tx).delete(id);
    });
  }
}
