import type { CoreResponse, RequestOperation } from '@strongroom/core';
import type { EnginePackage } from '@strongroom/engine-sdk';
import { memoryStorage } from '@strongroom/storage-sdk';
import { manualClock } from './manual-clock.ts';
import { mountForTest, type TestMount, type TestMountOptions } from './mount-for-test.ts';
import { KillableStorage } from './killable-storage.ts';

/** A server with one engine whose process can die at any commit, and be followed by the next one on the same records. */
export interface KillableMount extends TestMount {
  readonly storage: KillableStorage;
  /** By the root token; the path is from the root. */
  ask(operation: RequestOperation, path: string, data?: Record<string, unknown>): Promise<CoreResponse>;
  /** Whether the process died before `work` was through. */
  diesIn(work: Promise<unknown>): Promise<boolean>;
  /** Dies at once; the next server runs on the same records, this many seconds later. */
  restart(seconds?: number): Promise<KillableMount>;
  /** Lets the server run for a number of seconds of its clock, in steps shorter than any deadline. */
  pass(seconds: number, step?: number): Promise<void>;
}

/** Mounts an engine in a server that can be killed at any commit. */
export async function killableMount(engine: EnginePackage, options: Omit<TestMountOptions, 'storage'> = {}): Promise<KillableMount> {
  const disk = memoryStorage();
  const open = async (now: Date): Promise<KillableMount> => {
    const storage = new KillableStorage(disk);
    const mount = await mountForTest(engine, { ...options, storage, clock: manualClock(now) });
    return {
      ...mount,
      storage,
      ask: async (operation, path, data) => mount.call(operation, path, data ? { data } : {}),
      diesIn: async (work) => Promise.race([storage.noticed.then(() => true), work.then(() => false)]),
      restart: async (seconds = 1) => {
        storage.die();
        return open(new Date(mount.clock.millis() + seconds * 1_000));
      },
      pass: async (seconds, step = 30) => {
        for (let left = seconds; left > 0; left -= step) await mount.advance(Math.min(step, left));
      },
    };
  };
  return open(options.clock?.now() ?? new Date());
}
