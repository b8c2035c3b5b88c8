import { randomUUID, timingSafeEqual } from 'node:crypto';
import { EngineError, InvalidRequest, type Clock, type Log, type StreamedBody } from '@strongroom/engine-sdk';
import { FORMAT, readSnapshot, SnapshotFault, writeSnapshot, type SnapshotMeta } from '@strongroom/snapshot-file';
import { DamagedEntries, decodeEntries, type Replacement, type StoreCopy } from '@strongroom/storage-sdk';
import { KEY_RING, MIGRATION, type Barrier } from '../../kernel/barrier/barrier.ts';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { CountingDriver } from '../../kernel/storage/counting-driver.ts';
import { VERSION } from '../../kernel/version.ts';
import type { Cluster } from '../seal/cluster.ts';

const CONTENT_TYPE = 'application/gzip';
/** What the checksums are encrypted for: they can be opened as nothing else. */
const SUMS = 'snapshot/SHA256SUMS';
/** A snapshot that nobody has begun to take for so long is given up. Milliseconds. */
const PATIENCE = 60_000;
/** Records that belong to running servers or to a migration, and not to what is restored. */
const NOT_RESTORED: ReadonlySet<string> = new Set([MIGRATION]);
const OTHER_KEYS =
  'the snapshot was sealed with keys that this server does not have, such as those of another cluster or of a later time; restore it with snapshot-force (-force), and unseal with the keys of its time';

/** Another snapshot or restore is under way on this server. 409. */
export class SnapshotUnderWay extends EngineError {
  override readonly status = 409;
  override readonly form = 'plain' as const;
}

/** The storage can be neither copied nor replaced. 501. */
export class StorageHasNoSnapshots extends EngineError {
  override readonly status = 501;
  override readonly form = 'plain' as const;
}

/** What became of a restore. */
export interface Restored {
  readonly meta: SnapshotMeta;
  /** The server is open again, with the keys that it had. */
  readonly open: boolean;
}

interface Parts {
  readonly driver: CountingDriver;
  readonly barrier: Barrier;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
}

/** Takes snapshots of the store while it is used, and restores them. One at a time on a server. */
export class Snapshots {
  readonly #parts: Parts;
  #busy = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * A snapshot, to be read once; the store is as it was when this resolves.
   * @throws SnapshotUnderWay, StorageHasNoSnapshots, StorageFailure
   */
  async take(): Promise<{ meta: SnapshotMeta; body: StreamedBody }> {
    const { driver, clock, log } = this.#parts;
    if (!driver.copy) throw this.#cannot();
    const end = this.#begin();
    let copy: StoreCopy;
    let meta: SnapshotMeta;
    try {
      copy = await driver.copy();
      meta = this.#metaOf(copy);
    } catch (error) {
      end();
      throw error;
    }
    let closed = false;
    const close = async (): Promise<void> => {
      stopWaiting();
      if (closed) return;
      closed = true;
      await copy.close().catch((error: unknown) => log.warn('the copy of the store could not be removed', { error: String(error) }));
      end();
    };
    const stopWaiting = clock.after(PATIENCE, () => void close());
    const open = (signal: AbortSignal): AsyncIterable<Uint8Array> => {
      stopWaiting();
      return this.#written(copy, meta, signal, close);
    };
    return { meta, body: { contentType: CONTENT_TYPE, open, cancel: close } };
  }

  /**
   * Puts what a snapshot holds in the place of the store. Until all of it has been read and checked nothing is changed; `swap` runs the change itself, and
   * resolves with whether the server is open afterwards. `force`: also a snapshot of another cluster, or one whose keys this server does not have.
   * @throws SnapshotUnderWay, StorageHasNoSnapshots, StorageFailure, InvalidRequest
   */
  async restore(
    source: AsyncIterable<Uint8Array>,
    { force, swap }: { force: boolean; swap: (install: () => Promise<void>) => Promise<boolean> },
  ): Promise<Restored> {
    const { driver, log } = this.#parts;
    if (!driver.replace) throw this.#cannot();
    const end = this.#begin();
    let next: Replacement | undefined;
    try {
      next = await driver.replace();
      const meta = await this.#read(source, next, force);
      log.warn('the store is being replaced by a snapshot', {
        snapshot: meta.ID,
        created: meta.CreatedAt,
        cluster: meta.ClusterName,
        force,
      });
      const open = await swap(async () => next!.install());
      log.warn('the store was replaced by a snapshot', { snapshot: meta.ID, sealed: !open });
      return { meta, open };
    } catch (error) {
      if (error instanceof SnapshotFault) throw new InvalidRequest(error.message);
      if (error instanceof DamagedEntries) throw new InvalidRequest(`failed to read snapshot: state.bin is damaged: ${error.message}`);
      throw error;
    } finally {
      // Does nothing to what was installed.
      await next?.discard().catch((error: unknown) => log.warn('what a restore left could not be removed', { error: String(error) }));
      end();
    }
  }

  async #read(source: AsyncIterable<Uint8Array>, next: Replacement, force: boolean): Promise<SnapshotMeta> {
    const { cluster } = this.#parts;
    let records = 0;
    let keys = false;
    const { meta, sums, sealed } = await readSnapshot(source, {
      meta: (found) => {
        if (force || found.ClusterID === cluster.identity?.id) return;
        throw new SnapshotFault(
          `the snapshot is of another cluster, ${JSON.stringify(found.ClusterName)} (${found.ClusterID}); restore it with snapshot-force (-force), and unseal with the keys of that`,
        );
      },
      state: async (state) => {
        for await (const entries of decodeEntries(state)) {
          records += entries.length;
          keys ||= entries.some(({ key }) => key === KEY_RING);
          await next.put(entries.filter(({ key }) => !NOT_RESTORED.has(key)));
        }
      },
    });
    if (records !== meta.Entries)
      throw new SnapshotFault(`failed to read snapshot: it has ${records} records, and meta.json says ${meta.Entries}`);
    if (!keys) throw new SnapshotFault('failed to read snapshot: it holds no keys, so that no server could be unsealed with it');
    if (!force && !this.#opens(sealed, sums)) throw new SnapshotFault(OTHER_KEYS);
    return meta;
  }

  #opens(sealed: Buffer, sums: Buffer): boolean {
    try {
      const opened = this.#parts.barrier.ring.decrypt(SUMS, sealed);
      return opened.length === sums.length && timingSafeEqual(opened, sums);
    } catch (error) {
      if (error instanceof CorruptRecord) return false;
      throw error;
    }
  }

  #metaOf(copy: StoreCopy): SnapshotMeta {
    const { driver, barrier, cluster, clock } = this.#parts;
    return {
      Version: 1,
      ID: `strongroom-${randomUUID()}`,
      Index: driver.commits,
      Term: barrier.ring.term,
      Size: copy.bytes,
      Format: FORMAT,
      Entries: copy.entries,
      Storage: driver.name,
      ServerVersion: VERSION,
      ClusterID: cluster.identity?.id ?? '',
      ClusterName: cluster.identity?.name ?? '',
      CreatedAt: clock.now().toISOString(),
    };
  }

  async *#written(copy: StoreCopy, meta: SnapshotMeta, signal: AbortSignal, close: () => Promise<void>): AsyncGenerator<Uint8Array> {
    try {
      const pieces = writeSnapshot({ meta, state: copy.read(), seal: (sums) => this.#parts.barrier.ring.encrypt(SUMS, sums) });
      for await (const piece of pieces) {
        // What ends before its last file must not look whole.
        signal.throwIfAborted();
        yield piece;
      }
    } finally {
      await close();
    }
  }

  #begin(): () => void {
    if (this.#busy) throw new SnapshotUnderWay('a snapshot is being taken or restored on this server; try again when it is done');
    this.#busy = true;
    return () => (this.#busy = false);
  }

  #cannot(): StorageHasNoSnapshots {
    return new StorageHasNoSnapshots(`the storage ${this.#parts.driver.name} has no snapshots: back it up with its own means`);
  }
}
