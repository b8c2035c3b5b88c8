import {
  manualClock,
  mountForTest,
  sharedMemory,
  type CuttableStorage,
  type ManualClock,
  type SharedMemory,
  type TestMount,
} from '@strongroom/engine-testkit';
import { Outside, testEngine } from './test-engine.ts';

/** The test engine at `acc/`, and a store that outlives its servers: each start is one more server on it. */
export class TestWorld {
  readonly outside = new Outside();
  readonly clock: ManualClock = manualClock();
  readonly store: SharedMemory = sharedMemory();
  /** Of the engine of the next server. */
  hooks: NonNullable<Parameters<typeof testEngine>[1]> = {};
  /** All that were started: they are closed at the end. */
  readonly servers: TestMount[] = [];
  #driver: CuttableStorage | undefined;

  /** That of the server which was started last. */
  get driver(): CuttableStorage {
    return this.#driver!;
  }

  async start(): Promise<TestMount> {
    this.#driver = this.store.open();
    const started = await mountForTest(testEngine(this.outside, this.hooks), { storage: this.#driver, path: 'acc', clock: this.clock });
    this.servers.push(started);
    return started;
  }

  /** Of all entries of the store, in their order. */
  async keys(): Promise<string[]> {
    return (await this.store.open().range({ keysOnly: true })).map(({ key }) => key);
  }

  async close(): Promise<void> {
    for (const server of this.servers.splice(0)) await server.close();
  }
}
