import { randomUUID } from 'node:crypto';
import { encodeEntries, entryBytes, StorageFailure, type StoreCopy } from '@strongroom/storage-sdk';
import { asFailure, isCompacted, NAME } from './failure.ts';
import { Hold } from './hold.ts';
import type { Layout, Span } from './layout.ts';
import { pagesAt } from './pages.ts';
import type { Session } from './session.ts';

/** Entries that are read at a time. */
const PAGE = 200;
const EMPTY = new Uint8Array(0);

/** All entries at one revision, which is held until the copy is closed. They are read twice: etcd does not tell how large values are. */
export class RevisionCopy implements StoreCopy {
  readonly entries: number;
  readonly bytes: number;
  readonly #session: Session;
  readonly #span: Span;
  readonly #revision: number;
  readonly #hold: Hold;
  #closed = false;

  private constructor(session: Session, span: Span, hold: Hold, size: { revision: number; entries: number; bytes: number }) {
    this.#session = session;
    this.#span = span;
    this.#hold = hold;
    this.#revision = size.revision;
    this.entries = size.entries;
    this.bytes = size.bytes;
  }

  /** @throws StorageFailure */
  static async open(session: Session, layout: Layout): Promise<RevisionCopy> {
    const span = layout.generation(session.history.state.generation);
    let hold: Hold | undefined;
    try {
      const { header } = await session.read(() => []);
      const revision = Number(header.revision);
      hold = await Hold.take(session, layout.hold(randomUUID()), { revision });
      let [entries, bytes] = [0, 0];
      for await (const { kvs } of pagesAt(session, span, revision, {}, PAGE)) {
        entries += kvs.length;
        for (const { key, value } of kvs) bytes += entryBytes(key.length - span.key.length, value?.length ?? 0);
      }
      return new RevisionCopy(session, span, hold, { revision, entries, bytes });
    } catch (error) {
      await hold?.release();
      throw copyFailure(error);
    }
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const { kvs } of pagesAt(this.#session, this.#span, this.#revision, {}, PAGE)) {
        if (this.#closed) throw new StorageFailure(NAME, 'the copy was closed');
        const entries = kvs.map(({ key, value }) => ({ key: key.subarray(this.#span.key.length).toString(), value: value ?? EMPTY }));
        if (entries.length > 0) yield encodeEntries(entries);
      }
    } catch (error) {
      throw copyFailure(error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#hold.release();
  }
}

function copyFailure(error: unknown): StorageFailure {
  if (isCompacted(error))
    return new StorageFailure(NAME, 'etcd was compacted while the copy was read: is its automatic compaction too quick?');
  return asFailure(error);
}
