import { readdirSync } from 'node:fs';
import { readSnapshot } from '@strongroom/snapshot-file';
import { KillableServer } from './killable-server.ts';

const PATH = 'sys/storage/raft/snapshot';
const KEYS = 200;
const VALUE = 'x'.repeat(20_000);

/** What went wrong; `problems` is empty when nothing did. */
export interface SnapshotReport {
  readonly kills: number;
  /** Snapshots that were whole when the server was killed. */
  readonly taken: number;
  /** Restores that were answered before it was killed. */
  readonly restored: number;
  readonly cutOff: number;
  readonly problems: readonly string[];
}

/**
 * Kills a server with SIGKILL while it takes or restores a snapshot, again and again on the same store. After each start all records are read: the store is
 * as it was or as the snapshot has it, whole; what was acknowledged is there; nothing of the copy or the replacement is left.
 */
export class SnapshotKills {
  readonly #server: KillableServer;
  readonly #problems: string[] = [];
  #taken = 0;
  #restored = 0;
  #cutOff = 0;
  /** Milliseconds that the last one took that was not killed. */
  #takes = 100;
  #restores = 300;

  private constructor(server: KillableServer) {
    this.#server = server;
  }

  static async create(): Promise<SnapshotKills> {
    const run = new SnapshotKills(await KillableServer.start());
    await run.#server.call('POST', 'sys/mounts/kv', { type: 'kv' });
    return run;
  }

  async run(kills: number, random: () => number): Promise<SnapshotReport> {
    await this.#writeAll('snapshot');
    const snapshot = await this.#takeWhole();
    for (let round = 0; round < kills && this.#problems.length === 0; round += 1) {
      await this.#writeAll(`round ${round}`);
      if (round % 2 === 0) await this.#duringSnapshot(round, random);
      else await this.#duringRestore(round, snapshot, random);
    }
    const last = await this.#restoreWhole(snapshot);
    if (last !== 'snapshot') this.#problems.push(`after the last restore the store has ${last}`);
    return { kills, taken: this.#taken, restored: this.#restored, cutOff: this.#cutOff, problems: this.#problems };
  }

  async dispose(): Promise<void> {
    await this.#server.dispose();
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
      const answer = await this.#server.send('POST', PATH, snapshot, stop.signal);
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
    const files = readdirSync(this.#server.store);
    const stores = files.filter((name) => name === 'data.mdb' || name.startsWith('store-'));
    if (stores.length !== 1 || files.some((name) => name.startsWith('copy-')))
      this.#problems.push(`round ${round}: ${files.join(', ')} are left`);
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
    const answer = await this.#server.send('GET', PATH, undefined, AbortSignal.timeout(60_000));
    if (answer.status !== 200) throw new Error(`no snapshot: ${answer.status} ${await answer.text()}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    this.#takes = performance.now() - began;
    await readSnapshot(once(bytes));
    const restoring = performance.now();
    await this.#restoreWhole(bytes);
    this.#restores = performance.now() - restoring;
    return bytes;
  }

  async #restoreWhole(snapshot: Uint8Array): Promise<string> {
    const answer = await this.#server.send('POST', PATH, snapshot, AbortSignal.timeout(60_000));
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
