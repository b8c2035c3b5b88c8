import { EVERYTHING, StorageFailure, type StorageLog } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';
import type { Header, KeyValue, StatusResponse } from './wire.ts';

/** More than revisions can have been given in one history: versions of the next begin behind all of them. */
const VERSIONS_PER_HISTORY = 2 ** 40;

/** What is stored at the state's key. */
export interface State {
  /** Which entries count: a replacement of the store has a generation of its own. */
  readonly generation: string;
  /** Rises whenever a server finds that etcd has lost its past. */
  readonly history: number;
  /** Added to a revision it makes a version. */
  readonly offset: number;
  /** The identifier of the etcd cluster. */
  readonly cluster: string;
}

/** The state with the revision that it has. */
export interface KnownState extends State {
  readonly revision: number;
}

/** Whether an answer comes from the store as it is known here. */
export type Verdict = 'same' | 'replaced' | 'another past';

const GONE =
  'the store is not in etcd any more: were its members started with empty folders, or its keys deleted? Restore a backup of etcd';

/**
 * Which past etcd has. A cluster that was restored from a backup has another one, in which commits of this process may never have happened: its revisions
 * begin again below those that were seen, its log is shorter, or it has another identifier. Then versions go on behind all that were given, and whoever
 * keeps copies hears of it before anything is read from there.
 */
export class History {
  readonly #log: StorageLog;
  readonly #tell: (changed: typeof EVERYTHING) => void;
  #state: KnownState | undefined;
  #committed = 0;
  /** Rises with each change of the history or generation: what began in one epoch is not written in the next. */
  epoch = 0;
  /** The highest revision that was seen: an answer to a call that begins from now on has at least that. */
  revision = 0;

  constructor(log: StorageLog, tell: (changed: typeof EVERYTHING) => void) {
    this.#log = log;
    this.#tell = tell;
  }

  /** @throws StorageFailure before `adopt` */
  get state(): KnownState {
    if (!this.#state) throw new StorageFailure(NAME, 'the store has not been opened');
    return this.#state;
  }

  /** A version for a revision of an entry. */
  version(revision: string): number {
    return this.state.offset + Number(revision);
  }

  /** The revision that has that version; -1 for one of another history, which no key has. */
  revisionOf(version: number | undefined): number {
    if (version === undefined) return 0;
    const revision = version - this.state.offset;
    return revision > 0 && revision < VERSIONS_PER_HISTORY ? revision : -1;
  }

  /** `floor` is the revision that was known when the call began. @throws StorageFailure where the store is gone */
  judge(header: Header, state: KeyValue | undefined, floor: number): Verdict {
    const known = this.state;
    if (header.cluster_id !== known.cluster || Number(header.revision) < floor) return 'another past';
    if (!state) throw new StorageFailure(NAME, GONE);
    if (Number(state.mod_revision) !== known.revision) return 'replaced';
    this.revision = Math.max(this.revision, Number(header.revision));
    return 'same';
  }

  /** The log of a history only grows. To be called with the status of a member that has just answered a read. */
  judgeLog({ raftIndex }: StatusResponse, floor: number): Verdict {
    const committed = Number(raftIndex ?? 0);
    if (committed < floor) return 'another past';
    this.#committed = Math.max(this.#committed, committed);
    return 'same';
  }

  get committed(): number {
    return this.#committed;
  }

  /** What is to be stored where another past was found, for versions to go on behind all that were given. */
  successor(found: State, cluster: string): State {
    const known = this.#state;
    return {
      generation: found.generation,
      history: Math.max(found.history, known?.history ?? 0) + 1,
      offset: Math.max(found.offset, known?.offset ?? 0) + VERSIONS_PER_HISTORY,
      cluster,
    };
  }

  /** From here on the store is as that state says. Where that is news, every copy is dropped. */
  adopt(state: KnownState, revision: number, silent = false): void {
    const before = this.#state;
    if (before?.revision === state.revision && before.history === state.history) return;
    this.#state = state;
    if (!before) {
      this.revision = revision;
      return;
    }
    this.epoch += 1;
    if (state.history !== before.history) {
      this.revision = revision;
      this.#committed = 0;
      this.#log.warn("etcd's history has changed, as after a restore; reloading everything; commits acknowledged before may be lost", {
        same_cluster: state.cluster === before.cluster,
      });
    } else {
      this.revision = Math.max(this.revision, revision);
      if (!silent) this.#log.info('the store was replaced by another: everything is read again', { generation: state.generation });
    }
    if (!silent) this.#tell(EVERYTHING);
  }

  /** Something may have been missed: every copy is dropped, and what began before is not written. */
  doubt(): void {
    this.epoch += 1;
    this.#tell(EVERYTHING);
  }
}

export function encodeState({ generation, history, offset, cluster }: State): Buffer {
  return Buffer.from(JSON.stringify({ generation, history, offset, cluster }));
}

/** @throws StorageFailure for what no server of this kind has written */
export function decodeState(found: KeyValue | undefined): KnownState {
  if (!found) throw new StorageFailure(NAME, GONE);
  try {
    const { generation, history, offset, cluster } = JSON.parse(String(found.value)) as State;
    if (/^[a-z0-9]+$/.test(generation) && Number.isSafeInteger(history) && Number.isSafeInteger(offset) && typeof cluster === 'string')
      return { generation, history, offset, cluster, revision: Number(found.mod_revision) };
  } catch {
    // As with any other value.
  }
  throw new StorageFailure(NAME, 'what is stored below the prefix is no store of this server: choose another prefix');
}
