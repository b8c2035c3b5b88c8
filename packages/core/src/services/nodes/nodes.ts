import type { Clock, Log } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { randomBytes } from '../../kernel/random/random-bytes.ts';
import type { Store } from '../../kernel/storage/store.ts';
import { type NodeRecord, nodeRecords, SEALED } from './node-record.ts';

/** Milliseconds, as all that follow. */
const BEAT = 10_000;
/** A server that was seen so lately is there, even if its process is not known yet. */
const RECENT = 20_000;
/** A server that has gone is forgotten after a day. */
const KEPT = 86_400_000;

const EMPTY = new Uint8Array(0);

/** `lost`: it neither writes nor was it stopped in an orderly way. */
export type NodeState = 'active' | 'sealed' | 'lost';

/** A server of this store. */
export interface Node extends NodeRecord {
  readonly id: string;
  /** It answers this request. */
  readonly self: boolean;
  readonly state: NodeState;
  /** Its processes that are in that state. */
  readonly workers: number;
}

interface Parts {
  readonly store: Store;
  readonly driver: StorageDriver;
  readonly clock: Clock;
  /** For the time between two heartbeats. */
  readonly timer: Clock;
  readonly log: Log;
  /** What stays the same while the process runs. */
  readonly facts: Pick<NodeRecord, 'hostname' | 'address' | 'version' | 'server'>;
  /** What it does now. */
  readonly activity: () => Pick<NodeRecord, 'requests' | 'work' | 'incarnation'>;
  /** The lives of the other processes that have been seen lately. */
  readonly living: () => ReadonlySet<string>;
  /** Whether the process of a life runs. */
  readonly runs: (incarnation: string) => Promise<boolean>;
}

/** The servers that share a store. Each writes a record every ten seconds while it is unsealed, and leaves a mark when it is sealed. */
export class Nodes {
  /** Of this process, as long as it runs. */
  readonly id = randomBytes(9).toString('base64url');
  readonly #parts: Parts;
  readonly #started: number;
  #unsealed = 0;
  #cancel: (() => void) | undefined;
  /** Rises with every start and stop. */
  #run = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#started = parts.clock.millis();
  }

  /** At unseal. Takes the place of a server that ran at the same host and address and is gone. */
  async begin(): Promise<void> {
    const { clock, facts, runs } = this.#parts;
    this.#run += 1;
    const run = this.#run;
    this.#unsealed = clock.millis();
    const { store } = this.#parts;
    const [all, sealed] = [await this.#entries(), await this.#sealed()];
    const replaced: [id: string, record: NodeRecord][] = [];
    for (const [id, record] of all) {
      // Of several servers without an address, a sealed one may be any.
      const same = id !== this.id && sameHost(record, facts) && (facts.address !== '' || !sealed.has(id));
      if (same && !(await runs(record.incarnation))) replaced.push([id, record]);
    }
    await store.transaction(async (tx) => {
      for (const [id] of replaced) nodeRecords.delete(tx, id);
      for (const [id, { key }] of sealed) if (id === this.id || replaced.some(([other]) => other === id)) tx.delete(key);
      nodeRecords.put(tx, this.id, this.#record());
    });
    this.#next(run);
  }

  /** At seal. The mark needs no key: where it cannot be written, others find that the server does not write any more. */
  end(): void {
    if (!this.#cancel) return;
    this.#stop();
    const key = `${SEALED}${this.id}/${this.#parts.clock.millis()}`;
    this.#parts.driver.commit({ put: [{ key, value: EMPTY }] }).catch(() => undefined);
  }

  /** The process stops in an orderly way: its record goes. Before the seal. */
  async leave(): Promise<void> {
    if (!this.#cancel) return;
    this.#stop();
    await this.#parts.store
      .transaction(async (tx) => nodeRecords.delete(tx, this.id))
      .catch((error: unknown) =>
        this.#parts.log.warn('this server could not remove its entry in sys/nodes, which shows it as lost for a day', {
          error: String(error),
        }),
      );
  }

  /** All that were there within a day, by host and address; the processes of one server as one. */
  async list(): Promise<Node[]> {
    const sealed = await this.#sealed();
    const processes = (await this.#entries()).map(([id, record]): Node => {
      const self = id === this.id;
      const state = this.#stateOf(id, record, sealed);
      const seen = Math.max(record.seen, sealed.get(id)?.at ?? 0);
      return { ...record, id, self, state, seen, workers: 1, ...(self ? this.#now() : {}) };
    });
    const servers = new Map<string, Node[]>();
    for (const one of processes) servers.set(one.server ?? one.id, [...(servers.get(one.server ?? one.id) ?? []), one]);
    const nodes = [...servers].map(([server, own]) => together(server, own));
    return nodes.sort((a, b) => compare(a.hostname, b.hostname) || compare(a.address, b.address) || compare(a.id, b.id));
  }

  /** Writes the record now, and removes those of servers that have been gone for a day. */
  async beat(): Promise<void> {
    const { store, clock } = this.#parts;
    const run = this.#run;
    const sealed = await this.#sealed();
    const old = (await this.#entries()).filter(
      ([id, record]) =>
        this.#stateOf(id, record, sealed) !== 'active' && clock.millis() - Math.max(record.seen, sealed.get(id)?.at ?? 0) > KEPT,
    );
    if (run !== this.#run) return;
    await store.transaction(async (tx) => {
      nodeRecords.put(tx, this.id, this.#record());
      for (const [id] of old) {
        nodeRecords.delete(tx, id);
        const mark = sealed.get(id);
        if (mark) tx.delete(mark.key);
      }
    });
  }

  #stateOf(id: string, { incarnation, seen }: NodeRecord, sealed: ReadonlyMap<string, unknown>): NodeState {
    if (id === this.id) return 'active';
    if (sealed.has(id)) return 'sealed';
    const { living, clock } = this.#parts;
    return living().has(incarnation) || clock.millis() - seen < RECENT ? 'active' : 'lost';
  }

  #record(): NodeRecord {
    const { facts } = this.#parts;
    return { ...facts, started: this.#started, unsealed: this.#unsealed, ...this.#now() };
  }

  #now(): Pick<NodeRecord, 'seen' | 'requests' | 'work' | 'incarnation'> {
    return { ...this.#parts.activity(), seen: this.#parts.clock.millis() };
  }

  async #entries(): Promise<[id: string, record: NodeRecord][]> {
    return nodeRecords.entries(this.#parts.store, {}, (error) => this.#parts.log.error(error.message));
  }

  /** When each sealed server was sealed, in milliseconds, with the key that says so. */
  async #sealed(): Promise<Map<string, { readonly at: number; readonly key: string }>> {
    const found = new Map<string, { at: number; key: string }>();
    for (const key of await this.#parts.store.keys({ prefix: SEALED })) {
      const [id = '', at = ''] = key.slice(SEALED.length).split('/');
      found.set(id, { at: Number(at), key });
    }
    return found;
  }

  #stop(): void {
    this.#run += 1;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #next(run: number): void {
    if (run !== this.#run) return;
    this.#cancel = this.#parts.timer.after(BEAT, () => {
      this.beat()
        .catch((error: unknown) =>
          this.#parts.log.warn(
            'this server could not renew its entry in sys/nodes, and tries again in 10 s; other servers may show it as lost',
            { error: String(error) },
          ),
        )
        .finally(() => this.#next(run));
    });
  }
}

/** One server of its processes: what is gone counts only where all are. */
function together(server: string, processes: readonly Node[]): Node {
  const state = (['active', 'sealed', 'lost'] as const).find((each) => processes.some((one) => one.state === each))!;
  const counted = processes.filter((one) => one.state === state);
  const [first] = counted.toSorted((a, b) => Number(b.self) - Number(a.self));
  const of = (value: (one: Node) => number): number[] => counted.map(value);
  const sum = (value: (one: Node) => number): number => of(value).reduce((all, one) => all + one, 0);
  return {
    ...first!,
    ...{ id: server, state, workers: counted.length, requests: sum((one) => one.requests), work: sum((one) => one.work) },
    started: Math.min(...of((one) => one.started)),
    unsealed: Math.min(...of((one) => one.unsealed)),
    seen: Math.max(...of((one) => one.seen)),
  };
}

function sameHost(a: Pick<NodeRecord, 'hostname' | 'address'>, b: Pick<NodeRecord, 'hostname' | 'address'>): boolean {
  return a.hostname === b.hostname && a.address === b.address;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
