import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSnapshot } from '@strongroom/snapshot-file';
import { KillableServer } from './killable-server.ts';

const PATH = 'sys/storage/raft/snapshot';
const AUTO = 'sys/storage/raft/snapshot-auto';
/** Milliseconds that a server may take to go on with what another one left. */
const TAKEN_OVER = 60_000;
const KEYS = 200;
const VALUE = 'x'.repeat(20_000);

/** What went wrong; `problems` is empty when nothing did. */
export interface SnapshotReport {
  readonly kills: number;
  /** Snapshots that were whole when the server was killed. */
  readonly taken: number;
  /** Snapshots of the schedule that were there before it was killed. */
  readonly scheduled: number;
  /** Restores that were answered before it was killed. */
  readonly restored: number;
  readonly cutOff: number;
  readonly problems: readonly string[];
}

/** What the server is killed on. */
export interface SnapshotStore {
  /** The `storage` block; LMDB by default. */
  readonly storage?: string;
  /** What of copies and replacements is left in the storage besides the store itself. */
  leftovers(server: KillableServer): Promise<readonly string[]> | readonly string[];
}

/** A store on LMDB has nothing beside it. */
export const lmdbStore: SnapshotStore = {
  leftovers: (server) => {
    const files = readdirSync(server.store);
    const stores = files.filter((name) => name === 'data.mdb' || name.startsWith('store-'));
    return [...files.filter((name) => name.startsWith('copy-')), ...stores.slice(1)];
  },
};

/**
 * Kills a server with SIGKILL while it takes a snapshot, asked or by its schedule, or restores one, again and again on the same store. After each start all records are read: the store is
 * as it was or as the snapshot has it, whole; what was acknowledged is there; nothing of the copy or the replacement is left.
 */
export class SnapshotKills {
  readonly #server: KillableServer;
  readonly #store: SnapshotStore;
  readonly #folder = mkdtempSync(join(tmpdir(), 'strongroom-scheduled-'));
  readonly #problems: string[] = [];
  #taken = 0;
  #restored = 0;
  #scheduled = 0;
  #cutOff = 0;
  /** Milliseconds that the last one took that was not killed. */
  #takes = 100;
  #restores = 300;

  private constructor(server: KillableServer, store: SnapshotStore) {
    this.#server = server;
    this.#store = store;
  }

  static async create(store: SnapshotStore = lmdbStore): Promise<SnapshotKills> {
    const server = await KillableServer.start(store.storage === undefined ? {} : { storage: store.storage });
    const run = new SnapshotKills(server, store);
    await server.call('POST', 'sys/mounts/kv', { type: 'kv' });
    const settings = { storage_type: 'local', interval: '24h', retain: 2, path_prefix: run.#folder };
    await server.call('POST', `${AUTO}/config/daily`, settings);
    return run;
  }

  async run(kills: number, random: () => number): Promise<SnapshotReport> {
    await this.#writeAll('snapshot');
    const snapshot = await this.#takeWhole();
    for (let round = 0; round < kills && this.#problems.length === 0; round += 1) {
      await this.#writeAll(`round ${round}`);
      if (round % 3 === 0) await this.#duringScheduled(round, random);
      else if (round % 3 === 1) await this.#duringRestore(round, snapshot, random);
      else await this.#duringSnapshot(round, random);
    }
    const last = await this.#restoreWhole(snapshot);
    if (last !== 'snapshot') this.#problems.push(`after the last restore the store has ${last}`);
    const problems = this.#problems;
    return { kills, taken: this.#taken, scheduled: this.#scheduled, restored: this.#restored, cutOff: this.#cutOff, problems };
  }

  async dispose(): Promise<void> {
    await this.#server.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What the dead server was about is done by the next one; then the folder has the snapshots that the status names, and nothing else, and they can be restored. */
  async #duringScheduled(round: number, random: () => number): Promise<void> {
    // A restore leaves snapshots that the store does not know; written settings accept them.
    rmSync(this.#folder, { recursive: true });
    mkdirSync(this.#folder);
    await this.#server.call('DELETE', `${AUTO}/config/daily`);
    await this.#server.call('POST', `${AUTO}/config/daily`, {
      ...{ storage_type: 'local', interval: '24h', retain: 2, path_prefix: this.#folder },
    });
    await wait(random() * this.#takes * 1.5);
    await this.#server.dieDuring([], () => undefined);
    const begun = Date.now();
    let status: { snapshots: { url: string }[]; snapshot_url: string };
    for (;;) {
      status = (await this.#server.call('GET', `${AUTO}/status/daily`))['data'] as typeof status;
      if (status.snapshots.length > 0 && status.snapshot_url === '') break;
      if (Date.now() - begun > TAKEN_OVER) {
        this.#problems.push(`round ${round}: no scheduled snapshot was taken: ${JSON.stringify(status)}`);
        return;
      }
      await wait(50);
    }
    if (Date.now() - begun < 100) this.#scheduled += 1;
    const named = status.snapshots.map(({ url }) => url.slice(url.lastIndexOf('/') + 1)).sort();
    const found = readdirSync(this.#folder).sort();
    if (found.join() !== named.join())
      this.#problems.push(`round ${round}: the folder has ${found.join()}, and the status ${named.join()}`);
    await this.#expect(round, [`round ${round}`]);
    for (const name of found) {
      const restored = await this.#restoreWhole(readFileSync(join(this.#folder, name)));
      if (restored !== `round ${round}`) this.#problems.push(`round ${round}: the scheduled snapshot restores ${restored}`);
    }
  }

  async #duringSnapshot(round: number, random: () => number): Promise<void> {
    const stop = new AbortController();
    const written: number[] = [];
    const taking = (async () => {
      const answer = await this.#server.send('GET', PATH, undefined, stop.signal);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      await readSnapshot(once(bytes));
      this.#taken += 1;
    })().catch(() => (this.#cutOff += 1));
    const writing = (async () => {
      for (let i = 0; !stop.signal.aborted; i += 1) {
        if (await this.#server.try('PUT', `kv/meanwhile/${round}-${i}`, { value: String(i) })) written.push(i);
        else return;
      }
    })();
    await wait(random() * this.#takes * 1.5);
    await this.#server.dieDuring([taking, writing], () => stop.abort());
    await this.#expect(round, [`round ${round}`]);
    for (const i of written) {
      if (!(await this.#server.try('GET', `kv/meanwhile/${round}-${i}`))) this.#problems.push(`round ${round}: the write ${i} is lost`);
    }
  }

  async #duringRestore(round: number, snapshot: Uint8Array, random: () => number): Promise<void> {
    const stop = new AbortController();
    let answered = false;
    const restoring = (async () => {
      const answer = await this.#alone('POST', snapshot, stop.signal);
      answered = answer.status === 200;
      if (!answered) this.#problems.push(`round ${round}: ${answer.status} ${await answer.text()}`);
    })().catch(() => undefined);
    await wait(random() * this.#restores * 1.2);
    await this.#server.dieDuring([restoring], () => stop.abort());
    if (answered) this.#restored += 1;
    else this.#cutOff += 1;
    await this.#expect(round, answered ? ['snapshot'] : ['snapshot', `round ${round}`]);
  }

  /** The store is one of these, whole, and has nothing beside it. */
  async #expect(round: number, states: readonly string[]): Promise<void> {
    const found = await this.#readAll();
    if (!states.includes(found)) this.#problems.push(`round ${round}: the store has ${found}, not ${states.join(' or ')}`);
    let left = await this.#store.leftovers(this.#server);
    // The schedule may take a snapshot at this moment, whose copy is there until it is done.
    for (const begun = Date.now(); left.length > 0 && Date.now() - begun < TAKEN_OVER; left = await this.#store.leftovers(this.#server))
      await wait(50);
    if (left.length > 0) this.#problems.push(`round ${round}: ${left.join(', ')} are left`);
  }

  async #writeAll(state: string): Promise<void> {
    await each(async (i) => this.#server.call('PUT', `kv/k${i}`, { value: VALUE, state }));
  }

  /** What all keys say; of several, all of them. */
  async #readAll(): Promise<string> {
    const states = new Set<string>();
    await each(async (i) => {
      const answer = await this.#server.call('GET', `kv/k${i}`);
      states.add(String((answer['data'] as { state: string }).state));
    });
    return [...states].join(' and ');
  }

  async #takeWhole(): Promise<Uint8Array> {
    const began = performance.now();
    const answer = await this.#alone('GET', undefined, AbortSignal.timeout(TAKEN_OVER));
    if (answer.status !== 200) throw new Error(`no snapshot: ${answer.status} ${await answer.text()}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    this.#takes = performance.now() - began;
    await readSnapshot(once(bytes));
    const restoring = performance.now();
    await this.#restoreWhole(bytes);
    this.#restores = performance.now() - restoring;
    return bytes;
  }

  /** Waits while the schedule takes a snapshot: a server does one of them at a time. */
  async #alone(method: 'GET' | 'POST', snapshot: Uint8Array | undefined, signal: AbortSignal): Promise<Response> {
    for (;;) {
      const answer = await this.#server.send(method, PATH, snapshot, signal);
      if (answer.status !== 409) return answer;
      await answer.text();
      await wait(50);
    }
  }

  async #restoreWhole(snapshot: Uint8Array): Promise<string> {
    const answer = await this.#alone('POST', snapshot, AbortSignal.timeout(TAKEN_OVER));
    if (answer.status !== 200) return `${answer.status} ${await answer.text()}`;
    return this.#readAll();
  }
}

async function each(work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < KEYS; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

async function wait(millis: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, millis));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
