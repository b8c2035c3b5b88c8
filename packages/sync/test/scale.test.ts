import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { countingStorage } from './counting-storage.ts';
import { checked, syncMount, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';
const COUNT = 1_000;
const MINUTE = 60;
/** The capacity of the core's log of events. */
const EVENTS_KEPT = 8_192;
/** What 3,000 syncs may leave on the heap once caches are full: less than 350 bytes each. */
const MOST_GROWTH = 1024 * 1024;

jest.setTimeout(180_000);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('1,000 associations', () => {
  let sync: SyncMount;
  beforeAll(async () => {
    // The pace of AWS Secrets Manager.
    sync = await syncMount({ limits: { pace: { perSecond: 40, burst: 40 } }, pageSize: 100 });
    for (let index = 0; index < COUNT; index += 1) {
      await sync.put(`s${index}`, { value: 'x'.repeat(1_000), index });
      await sync.set(`s${index}`, { wait: 0 });
    }
    for (let waited = 0; waited < 10 * MINUTE && Object.keys(sync.provider.values()).length < COUNT; waited += 10)
      await sync.advance('10s');
    await sync.advance('1m');
  });
  afterAll(async () => sync.close());

  /** Everything outside is edited, then repaired; resolves with the seconds that took, by the server's clock. */
  const repaired = async (round: string): Promise<number> => {
    for (const name of sync.provider.secrets.keys()) await sync.provider.write(name, round);
    const answer = await checked(sync.ask('update', `${ONE}/reconcile`));
    expect(answer.data).toEqual({ queued: COUNT, orphans_removed: 0 });
    let seconds = 0;
    while (Object.values(sync.provider.values()).includes(round) && seconds < 10 * MINUTE) {
      await sync.advance('1s');
      seconds += 1;
    }
    return seconds;
  };

  test("reconcile within a minute of the server's clock, at the pace of the provider", async () => {
    expect(await repaired('edited once')).toBeLessThanOrEqual(MINUTE);
    expect((await sync.ask('read', `${ONE}/plan`)).data).toMatchObject({ total: 0, in_sync: COUNT });
  });

  test('reconcile again and again with flat memory', async () => {
    // The log of events keeps the last of them: it is filled before anything is measured.
    for (let event = 0; event < EVENTS_KEPT; event += 1) await sync.put('not-associated', { event });
    const heaps: number[] = [];
    for (let round = 1; round <= 7; round += 1) {
      await repaired(`edited ${round}`);
      sync.provider.log.length = 0;
      collect();
      heaps.push(process.memoryUsage().heapUsed);
    }
    // The first fills caches. Of three each the smallest counts, which has the least that is just not collected yet.
    expect(Math.min(...heaps.slice(4, 7)) - Math.min(...heaps.slice(1, 4))).toBeLessThan(MOST_GROWTH);
  });

  test('a reconcile that finds nothing lists pages, and writes nothing', async () => {
    await sync.advance('1m');
    sync.provider.log.length = 0;
    expect((await sync.ask('update', `${ONE}/reconcile`)).data).toEqual({ queued: 0, orphans_removed: 0 });
    await sync.advance('1m');
    expect(sync.provider.log.length).toBe(COUNT / 100 + 1);
  });

  test('are purged without leaving anything', async () => {
    await sync.ask('delete', ONE, { purge: true });
    for (let waited = 0; waited < 10 * MINUTE && (await sync.ask('read', ONE)).status === 200; waited += 10) await sync.advance('10s');
    expect((await sync.ask('read', ONE)).status).toBe(404);
    expect(sync.provider.values()).toEqual({});
  });
});

describe('a write of a secret that nobody follows', () => {
  test('reads nothing of sync in mounts without associations, and one record in those with', async () => {
    const counted = countingStorage();
    const sync = await syncMount({ mount: { storage: counted } });
    await sync.put('warm', { a: '1' });
    const without = await counted.readsOf(() => sync.put('plain', { a: '1' }));
    expect(without.filter((key) => key.includes('followed'))).toEqual([]);
    await sync.put('linked', { a: '1' });
    await sync.set('linked');
    const beside = await counted.readsOf(() => sync.put('plain', { a: '2' }));
    expect(beside.filter((key) => key.includes('followed'))).toHaveLength(1);
    await sync.close();
  });
});
