import { createCore, type Core, type CoreResponse, type RequestOperation } from '@strongroom/core';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import type { Plugin } from '@strongroom/engine-sdk';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { databaseEngine } from '../src/index.ts';

/** A driver whose process dies: from then on nothing it is asked for ever happens or answers. */
export class MortalStorage implements StorageDriver {
  readonly name = 'mortal';
  readonly shared = true;
  readonly #driver: StorageDriver;
  #commitsLeft = Infinity;
  #dead = false;
  #noticed!: () => void;
  /** Resolves when something is asked of the dead. */
  readonly noticed = new Promise<void>((resolve) => (this.#noticed = resolve));

  constructor(driver: StorageDriver) {
    this.#driver = driver;
  }

  /** Dies when one more commit than these is asked for, before it is made. */
  dieAfter(commits: number): void {
    this.#commitsLeft = commits;
  }

  die(): void {
    this.#dead = true;
  }

  get dead(): boolean {
    return this.#dead;
  }

  get(key: string): ReturnType<StorageDriver['get']> {
    return this.#dead ? this.#silence() : this.#driver.get(key);
  }

  range(query: Parameters<StorageDriver['range']>[0]): ReturnType<StorageDriver['range']> {
    return this.#dead ? this.#silence() : this.#driver.range(query);
  }

  commit(change: Parameters<StorageDriver['commit']>[0]): Promise<void> {
    if (this.#commitsLeft === 0) this.#dead = true;
    this.#commitsLeft -= 1;
    return this.#dead ? this.#silence() : this.#driver.commit(change);
  }

  changes(listener: (keys: readonly string[]) => void): () => void {
    return this.#driver.changes(listener);
  }

  async close(): Promise<void> {}

  #silence(): Promise<never> {
    this.#noticed();
    return new Promise<never>(() => undefined);
  }
}

/** A server with the database engine at `database/`, over storage that outlives it. */
export interface Server {
  readonly core: Core;
  readonly clock: ManualClock;
  readonly storage: MortalStorage;
  call(operation: RequestOperation, path: string, data?: Record<string, unknown>): Promise<CoreResponse>;
  /** Closes the database sessions that it and the servers before it left: the operating system does that for the dead. */
  closeSessions(): Promise<void>;
  /** Dies at once; the next server runs on the same records, this much later. */
  restart(seconds?: number): Promise<Server>;
}

export async function startServer(): Promise<Server> {
  const sessions: DatabaseSession[] = [];
  const plugin: typeof postgresqlPlugin = {
    ...postgresqlPlugin,
    open: async (config, host) => {
      const session = await postgresqlPlugin.open(config, host);
      sessions.push(session);
      return session;
    },
  };
  const plugins: readonly Plugin[] = [plugin];
  const disk = memoryStorage();
  const core = await createCore({ storage: new MortalStorage(disk), plugins: [databaseEngine, ...plugins] });
  const { keys, rootToken } = await core.initialize({
    secretShares: 1,
    secretThreshold: 1,
    recoveryShares: undefined,
    recoveryThreshold: undefined,
  });
  const open = async (now: Date): Promise<Server> => {
    const storage = new MortalStorage(disk);
    const clock = manualClock(now);
    const running = await createCore({ storage, clock, plugins: [databaseEngine, ...plugins] });
    await running.unseal(keys[0]!);
    return {
      core: running,
      clock,
      storage,
      call: async (operation, path, data) =>
        running.handle({ operation, path, token: rootToken, remoteAddress: '127.0.0.1', ...(data ? { data } : {}) }),
      closeSessions: async () => {
        await Promise.all(sessions.splice(0).map(async (session) => session.close()));
      },
      restart: async (seconds = 1) => {
        storage.die();
        return open(new Date(clock.millis() + seconds * 1_000));
      },
    };
  };
  const server = await open(new Date());
  await server.call('update', 'sys/mounts/database', { type: 'database' });
  return server;
}

/** Lets the server work on for so many seconds of its clock, in steps shorter than any deadline. */
export async function passTime({ core, clock }: Server, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 30) {
    await clock.advance(Math.min(30, left));
    await core.settleSchedule();
  }
}
