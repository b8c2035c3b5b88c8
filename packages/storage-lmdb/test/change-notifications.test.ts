import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { EVERYTHING, type ChangedKeys } from '@strongroom/storage-sdk';
import { ChangeNotifications } from '../src/change-notifications.ts';
import { Environment } from '../src/environment.ts';
import type { Database } from '../src/open-file.ts';
import { Versions } from '../src/versions.ts';

const MINUTE = 60_000;
const NAMES = { start: '\0announced/', end: '\0announced0' };

let folder: string;
let environment: Environment;
/** Entries that were looked at. */
let looks: number;
let ahead: number;
const clock = { now: () => Date.now() + ahead, paused: () => false };

beforeEach(async () => {
  // Nothing but the interval of the polls.
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'performance',
      'hrtime',
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });
  folder = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
  environment = await Environment.open(folder);
  looks = 0;
  ahead = 0;
});
afterEach(async () => {
  jest.useRealTimers();
  await environment.close();
  rmSync(folder, { recursive: true });
});

function* counted<T>(entries: Iterable<T>): Iterable<T> {
  for (const entry of entries) {
    looks += 1;
    yield entry;
  }
}

/** The same environment, of which it is counted how many entries are looked at. */
function watched(): Environment {
  const db = new Proxy(environment.db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      return name === 'getRange' || name === 'getKeys' ? (...args: unknown[]) => counted(call(...args) as Iterable<unknown>) : call;
    },
  });
  return { db, opened: true, writing: async (hand: (file: Database) => unknown) => environment.writing(hand) } as unknown as Environment;
}

/** A process of the store: it makes notifications under versions of its own, and hears those of the others. */
function participant(block: number, of: Environment = watched()) {
  const notifications = new ChangeNotifications(of, new Set([block]), () => false, clock);
  let version = Versions.firstOf(block);
  const make = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) {
      const own = version++;
      const written = environment.writing((db) => notifications.write(db, [`key/${block}`], own));
      if (made === count - 1) await written;
    }
  };
  const heard: ChangedKeys[] = [];
  notifications.subscribe((changed) => heard.push(changed));
  return { notifications, make, heard };
}

function poll(): void {
  jest.advanceTimersByTime(50);
}

function kept(): number {
  environment.db.resetReadTxn();
  return [...environment.db.getKeys(NAMES)].length;
}

/** Until nothing more follows from what was written. */
async function settled(): Promise<void> {
  for (let [turns, before] = [0, kept()]; turns < 10; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await environment.writing(() => undefined);
    if (kept() !== before) [turns, before] = [0, kept()];
  }
}

describe('change notifications', () => {
  test('that are kept are not looked at again and again, however many there are', async () => {
    const { make, notifications } = participant(7);
    const other = participant(9);
    await make(6_000);
    await other.make(10);
    await settled();
    looks = 0;
    await make(3_000);
    await settled();
    // Three prunings, each of which looks at the oldest of two blocks.
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(6);
    looks = 0;
    participant(11).notifications.stop();
    // Twice the last one of each block, for what is new from then on, and once the first one, for what is old.
    expect(looks).toBeLessThanOrEqual(6);
    notifications.stop();
    other.notifications.stop();
    expect(kept()).toBe(9_010);
  });

  test('are removed after ten minutes, whichever process made them, while those that are younger stay', async () => {
    const { make, notifications } = participant(7);
    const other = participant(9);
    await make(4_500);
    await other.make(10);
    ahead = 9 * MINUTE;
    await other.make(20);
    ahead = 11 * MINUTE;
    await make(500);
    await settled();
    expect(kept()).toBe(520);
    notifications.stop();
    other.notifications.stop();
  });

  test('that others have made are heard once, and not those from before the subscription', async () => {
    const one = participant(7);
    await one.make(3);
    const [two, three] = [participant(9), participant(11)];
    await one.make(2);
    await two.make(1);
    poll();
    poll();
    expect(one.heard).toEqual([['key/9']]);
    expect(two.heard).toEqual([['key/7'], ['key/7']]);
    expect(three.heard).toEqual([['key/7'], ['key/7'], ['key/9']]);
    for (const { notifications } of [one, two, three]) notifications.stop();
  });

  test('whose beginning is unknown, as the file could not be read, count as everything', async () => {
    const one = participant(7);
    let readable = true;
    const unsure = Object.defineProperty(watched(), 'db', {
      get() {
        if (readable) return environment.db;
        throw new Error('the file is being opened again');
      },
    });
    const two = new ChangeNotifications(unsure, new Set([9]), () => false, clock);
    const heard: ChangedKeys[] = [];
    readable = false;
    two.subscribe((changed) => heard.push(changed));
    await one.make(2);
    poll();
    expect(heard).toEqual([]);
    readable = true;
    poll();
    await one.make(1);
    poll();
    expect(heard).toEqual([EVERYTHING, ['key/7']]);
    two.stop();
    one.notifications.stop();
  });
});
