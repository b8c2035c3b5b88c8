import type { StorageLog } from '@strongroom/storage-sdk';
import { asFailure, isCompacted } from './failure.ts';
import type { Layout } from './layout.ts';
import type { Session } from './session.ts';
import { COMPACT, firstOf, get, isAt, put, remove, type KeyValue, type Op } from './wire.ts';

const ROUND_MS = 5 * 60_000;
const PAGE = 500;

/** What the claim holds: the revisions at the begin of the last rounds, newest first. */
type Rounds = readonly number[];

/**
 * Every five minutes one process of the store compacts etcd up to where it was ten minutes ago, and removes what dead processes have left. Whoever moves the
 * claim first does it; the others find it moved, and wait for their next turn. No clocks are compared.
 */
export class Housekeeping {
  readonly #session: Session;
  readonly #layout: Layout;
  readonly #compacts: boolean;
  readonly #touch: () => Promise<void>;
  readonly #log: StorageLog;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  /** Where the claim was when it was last looked at. */
  #claim = -1;
  #warned = false;

  constructor(parts: {
    readonly session: Session;
    readonly layout: Layout;
    readonly compacts: boolean;
    /** Shows that this process is alive. */
    readonly touch: () => Promise<void>;
    readonly log: StorageLog;
  }) {
    this.#session = parts.session;
    this.#layout = parts.layout;
    this.#compacts = parts.compacts;
    this.#touch = parts.touch;
    this.#log = parts.log;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#round ??= this.round().finally(() => (this.#round = undefined));
    }, ROUND_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }

  /** One turn. Never rejects. */
  async round(): Promise<void> {
    try {
      await this.#touch();
      const before = await this.#won();
      const old = before?.[1];
      if (old === undefined) return;
      const kept = await this.#clear(old);
      if (this.#compacts) await this.#compact(Math.min(old, kept));
    } catch (error) {
      this.#warn(error);
    }
  }

  /** The revisions of earlier rounds, where this process is to do the work of this one. */
  async #won(): Promise<Rounds | undefined> {
    const { claim } = this.#layout;
    const { header, responses } = await this.#session.read(() => [get(claim)]);
    const found = firstOf(responses[0]);
    const revision = Number(found?.mod_revision ?? 0);
    const first = this.#claim === -1;
    const moved = !first && revision !== this.#claim;
    this.#claim = revision;
    if (moved || (first && found)) return undefined;
    const before = roundsOf(found);
    const next = [Number(header.revision), ...before].slice(0, 3);
    const { succeeded, header: written } = await this.#session.once({
      compare: [isAt(claim, revision)],
      success: [put(claim, Buffer.from(JSON.stringify(next)))],
      failure: [get(claim)],
    });
    if (!succeeded) return undefined;
    this.#claim = Number(written.revision);
    return before;
  }

  /** Removes marks, notifications and holds that were not written since that revision. Gives the lowest revision that is held. */
  async #clear(old: number): Promise<number> {
    const { nodes, changed, head, holds } = this.#layout;
    let kept = Infinity;
    const held = new Set<string>();
    for (const span of [nodes, changed, holds]) {
      const found = await this.#keysOf(span.key, span.end, span !== holds);
      const gone = found.filter(({ key, mod_revision }) => Number(mod_revision) < old && !key.equals(head));
      if (span === holds)
        for (const hold of found) {
          if (gone.includes(hold)) continue;
          const { revision = Infinity, generation } = JSON.parse(String(hold.value)) as { revision?: number; generation?: string };
          kept = Math.min(kept, revision);
          if (generation !== undefined) held.add(generation);
        }
      await this.#remove(gone);
    }
    await this.#clearGenerations(held);
    return kept;
  }

  /** Removes entries that a replacement has left, whether it was installed or given up. */
  async #clearGenerations(held: ReadonlySet<string>): Promise<void> {
    const { entries } = this.#layout;
    const start = entries.key.length;
    let from = entries.key;
    for (;;) {
      const { responses } = await this.#session.read(() => [get(from, { range_end: entries.end, limit: 1, keys_only: true })]);
      const found = firstOf(responses[0]);
      if (!found) return;
      const generation = found.key.subarray(start).toString().split('/')[0] ?? '';
      const span = this.#layout.generation(generation);
      if (generation !== this.#session.history.state.generation && !held.has(generation)) {
        await removeSpan(this.#session, span);
        this.#log.info('entries that a replacement of the store has left were removed', { generation });
      }
      from = span.end;
    }
  }

  async #keysOf(key: Buffer, end: Buffer, keysOnly: boolean): Promise<readonly KeyValue[]> {
    const { responses } = await this.#session.read(() => [get(key, { range_end: end, keys_only: keysOnly })]);
    return responses[0]?.response_range?.kvs ?? [];
  }

  async #remove(gone: readonly KeyValue[]): Promise<void> {
    for (let at = 0; at < gone.length; at += 50) {
      const part = gone.slice(at, at + 50);
      // Each only where it is as it was found.
      const success: Op[] = part.map(({ key, mod_revision }) => ({
        request_txn: { compare: [isAt(key, Number(mod_revision))], success: [remove(key)] },
      }));
      await this.#session.once({ success });
    }
  }

  async #compact(revision: number): Promise<void> {
    const { cluster } = this.#session;
    try {
      await cluster.call(cluster.current, COMPACT, { revision }, 10_000);
    } catch (error) {
      // Somebody else has compacted up to there.
      if (!isCompacted(error)) throw error;
    }
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn('old revisions could not be removed from etcd, which grows until they are', { error: asFailure(error).reason });
  }
}

/** Removes the keys of a span, some at a time, so that etcd has time for others. */
export async function removeSpan(session: Session, { key, end }: { readonly key: Buffer; readonly end: Buffer }): Promise<void> {
  for (;;) {
    const { responses } = await session.read(() => [get(key, { range_end: end, limit: PAGE, keys_only: true })]);
    const last = responses[0]?.response_range?.kvs.at(-1);
    if (!last) return;
    await session.once({ success: [remove(key, Buffer.concat([last.key, Buffer.from([0])]))] });
  }
}

function roundsOf(found: KeyValue | undefined): Rounds {
  if (!found?.value) return [];
  const rounds: unknown = JSON.parse(found.value.toString());
  return Array.isArray(rounds) ? rounds.filter((each) => typeof each === 'number') : [];
}
