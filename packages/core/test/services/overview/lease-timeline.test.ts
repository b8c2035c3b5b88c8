import { beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { Store } from '../../../src/kernel/storage/store.ts';
import { DueRecords } from '../../../src/kernel/work/due-records.ts';
import { leaseMarks } from '../../../src/services/leases/lease-index.ts';
import { leaseRecords, type LeaseRecord } from '../../../src/services/leases/lease-record.ts';
import { LeaseTimeline, type Look } from '../../../src/services/overview/lease-timeline.ts';
import { LeaseTree } from '../../../src/services/overview/lease-tree.ts';
import type { LeaseRow } from '../../../src/services/overview/lease-row.ts';
import { tokenRecords, type TokenRecord } from '../../../src/services/tokens/token-record.ts';

const LEASES = 400;
const TOKENS = 60;
const HOUR = 3_600_000;
/** So small that every look takes several calls. */
const BOUNDS = { entries: 50, records: 30, page: 10, few: 5 };

interface Kept {
  readonly id: string;
  readonly due: number;
  readonly kind: 'secrets' | 'tokens';
}

describe('leases by time and by path, read in small bites', () => {
  const clock = manualClock();
  const start = clock.millis();
  let store: Store;
  let all: Kept[];
  let timeline: LeaseTimeline;
  let tree: LeaseTree;

  beforeEach(async () => {
    const driver = sharedMemory().open();
    const barrier = new Barrier(driver, clock);
    await barrier.initialize(Buffer.alloc(32, 7), []);
    await barrier.unseal(Buffer.alloc(32, 7));
    store = new Store(driver, barrier);
    const tokens = { byDigest: async (digest: string) => ({ record: (await tokenRecords.get(store, digest))! }) };
    timeline = new LeaseTimeline({ store, tokens, bounds: BOUNDS });
    tree = new LeaseTree({ store, tokens, bounds: { keys: 50, page: 10, most: 20, least: 3 } });
    all = [];
    const leases = new DueRecords({ store, clock, kind: 'lease', records: leaseRecords, marks: leaseMarks });
    const tokenLeases = new DueRecords({
      ...{ store, clock, kind: 'token' as const, records: tokenRecords },
      marks: (digest: string, { path }: TokenRecord) => [`lease/${path}/${digest}`],
    });
    await store.transaction(async (tx) => {
      for (let i = 0; i < LEASES; i += 1) {
        // Many of them in one instant, as a burst of logins leaves them.
        const due = start + (i % 3 === 0 ? HOUR : (i * 7_919_000) % (10 * HOUR));
        const path = ['db/creds/report', 'db/creds/rep', 'db/static', 'aws/sts/ci'][i % 4]!;
        const id = `${path}/id${String(i).padStart(4, '0')}`;
        leases.put(tx, id, undefined, lease(path, due, i));
        all.push({ id, due, kind: 'secrets' });
      }
      for (let i = 0; i < TOKENS; i += 1) {
        const due = start + ((i * 104_729_000) % (10 * HOUR));
        const path = i % 2 === 0 ? 'auth/ldap/login/ada' : 'db/creds/report';
        tokenLeases.put(tx, `d${i}`, undefined, token(path, due));
        all.push({ id: `${path}/d${i}`, due, kind: 'tokens' });
      }
    });
  });

  const histogram = async (look: Look, count: number) => {
    const sums = Array.from({ length: count }, () => ({ secrets: 0, tokens: 0 }));
    let after: string | undefined;
    let calls = 0;
    do {
      const counted = await timeline.histogram({ ...look, after }, count);
      for (const [index, bucket] of counted.buckets.entries()) {
        sums[index]!.secrets += bucket.secrets;
        sums[index]!.tokens += bucket.tokens;
      }
      after = counted.next;
      calls += 1;
    } while (after !== undefined);
    return { sums, calls };
  };

  const expiring = async (look: Look, limit: number) => {
    const rows: LeaseRow[] = [];
    let after: string | undefined;
    do {
      const page = await timeline.expiring({ ...look, after }, limit);
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      rows.push(...page.rows);
      after = page.next;
    } while (after !== undefined);
    return rows;
  };

  const below = (prefix: string) => all.filter(({ id }) => prefix === '' || id === prefix || id.startsWith(`${prefix}/`));
  const within = (kept: Kept[], { from, to }: Look) => kept.filter(({ due }) => due >= from && due < to);

  for (const prefix of ['', 'db', 'db/creds/rep', 'db/creds/report', 'auth/ldap/login', 'aws/sts/ci/id0003', 'nowhere'])
    for (const [from, to] of [
      [0, 10 * HOUR],
      [HOUR, HOUR + 1],
      [HOUR, 2 * HOUR],
      [20 * HOUR, 21 * HOUR],
    ] as const)
      test(`below ${JSON.stringify(prefix)}, from ${from} to ${to}: every lease is counted once and listed once, in the order of time`, async () => {
        const look = { prefix, from: start + from, to: start + to };
        const wanted = within(below(prefix), look);
        const { sums } = await histogram(look, 7);
        const width = (to - from) / 7;
        for (const [index, sum] of sums.entries()) {
          const inside = wanted.filter(({ due }) => Math.floor((due - look.from) / width) === index);
          expect(sum).toEqual({
            secrets: inside.filter(({ kind }) => kind === 'secrets').length,
            tokens: inside.filter(({ kind }) => kind === 'tokens').length,
          });
        }
        for (const limit of [1, 7, 1_000]) {
          const rows = await expiring(look, limit);
          expect(rows.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
          expect(rows.map(({ due }) => due)).toEqual(rows.map(({ due }) => due).sort((a, b) => a - b));
        }
      });

  test('a call reads no more than its bounds, and says that there is more', async () => {
    const { calls } = await histogram({ prefix: '', from: start, to: start + 10 * HOUR }, 10);
    expect(calls).toBe(Math.ceil((LEASES + TOKENS) / BOUNDS.entries));
    const few = await histogram({ prefix: '', from: start, to: start + 60_000 }, 10);
    expect(few.calls).toBe(1);
  });

  test('a level of the tree lists the folders alone, and counts each as far as it may', async () => {
    const level = await tree.level('db/creds', { limit: 10 });
    expect(level).toEqual({
      folders: [
        { name: 'rep/', count: 20, more: true },
        { name: 'report/', count: 20, more: true },
      ],
      here: 0,
    });
    const first = await tree.level('', { limit: 2 });
    expect(first.folders.map(({ name }) => name)).toEqual(['auth/', 'aws/']);
    expect((await tree.level('', { limit: 2, after: first.next })).folders.map(({ name }) => name)).toEqual(['db/']);
    let here = 0;
    let after: string | undefined;
    do {
      const leaves = await tree.level('db/static', { limit: 10, after });
      expect(leaves.folders).toEqual([]);
      here += leaves.here;
      after = leaves.next;
    } while (after !== undefined);
    expect(here).toBe(LEASES / 4);
  });

  test('totals of all calls add up, and name those that fail', async () => {
    let leases = 0;
    let after: string | undefined;
    const first = await tree.totals('db', undefined);
    do {
      const part = await tree.totals('db', after);
      leases += part.leases;
      after = part.next;
    } while (after !== undefined);
    expect(leases).toBe(below('db').length);
    const wanted = below('db').filter(({ id }) => /0$/.test(id) && id.includes('/id')).length;
    expect(first.failing.count).toBe(wanted);
    const rows: LeaseRow[] = [];
    do {
      const page = await tree.failing('db', { limit: 3, after });
      rows.push(...page.rows);
      after = page.next;
    } while (after !== undefined);
    expect(rows).toHaveLength(wanted);
    expect(new Set(rows.map(({ state, error }) => `${state}: ${error}`))).toEqual(
      new Set(['waiting: no answer', 'irrevocable: no answer']),
    );
  });
});

function lease(path: string, due: number, index: number): LeaseRecord {
  const record: LeaseRecord = {
    ...{ mount: `m${index % 2}`, type: 't', internal: {}, path, issued: 1, expires: due, renewable: true, token: '', due, attempts: 0 },
  };
  if (index % 10 !== 0) return record;
  const waiting = { ...record, revoking: true, waiting: true, revoke_error: 'no answer', attempts: 2 };
  return index % 20 === 0 ? { ...waiting, irrevocable: true } : waiting;
}

function token(path: string, due: number): TokenRecord {
  return {
    ...{ accessor: 'a', path, policies: [], display_name: 'd', created: 1, expires: due, creation_ttl: 1, renewable: false, due },
  };
}
