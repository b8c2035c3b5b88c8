import { beforeEach, describe, expect, test } from '@jest/globals';
import { UpstreamFailed } from '@strongroom/engine-sdk';
import { manualClock, sharedMemory, type CuttableStorage, type ManualClock } from '@strongroom/engine-testkit';
import { Type, type Static } from 'typebox';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { Records } from '../../../src/kernel/storage/records.ts';
import { Store } from '../../../src/kernel/storage/store.ts';
import { DueRecords } from '../../../src/kernel/work/due-records.ts';
import { DueWork, type Work } from '../../../src/kernel/work/due-work.ts';
import { OutsideSystems } from '../../../src/kernel/work/outside-systems.ts';
import { dueKey, parseDueKey, SCHEDULE } from '../../../src/kernel/work/schedule-index.ts';

const Errand = Type.Object({
  due: Type.Number(),
  process: Type.Optional(Type.String()),
  attempts: Type.Optional(Type.Number()),
  last_error: Type.Optional(Type.Object({ message: Type.String(), at: Type.Number() })),
  urgent: Type.Optional(Type.Boolean()),
  /** The work may take ten minutes, and stores its claim. */
  long: Type.Optional(Type.Boolean()),
  claim: Type.Optional(Type.String()),
});
type Errand = Static<typeof Errand>;

const NEVER = new AbortController().signal;

describe('due work', () => {
  let clock: ManualClock;
  let driver: CuttableStorage;
  let store: Store;
  let commits: number;
  let outside: OutsideSystems;
  let answer: (id: string, signal: AbortSignal) => Promise<void>;
  let asked: string[];
  let next: (() => Errand | undefined) | undefined;

  beforeEach(async () => {
    clock = manualClock();
    driver = sharedMemory().open();
    commits = 0;
    const { commit } = driver;
    driver.commit = async (change) => {
      commits += 1;
      return commit.call(driver, change);
    };
    const barrier = new Barrier(driver, clock);
    await barrier.initialize(Buffer.alloc(32, 9), []);
    await barrier.unseal(Buffer.alloc(32, 9));
    store = new Store(driver, barrier);
    outside = new OutsideSystems(clock, { random: () => 0 });
    asked = [];
    answer = async () => undefined;
    next = undefined;
  });

  const records = (): DueRecords<Errand> =>
    new DueRecords({
      kind: 'job',
      store,
      records: new Records('errand/', Errand),
      clock,
      marks: (id, { urgent }) => (urgent ? [`urgent/${id}`] : []),
    });
  const machine = (life = 'one'): DueWork<Errand, void> => {
    const own = records();
    const work: Work<Errand, void> = {
      absent: { reason: 'no handler is known' },
      begun: (record) => (record.long ? { ...record, claim: life } : record),
      task: (id, { long }) =>
        id === 'unknown'
          ? undefined
          : {
              mount: 'm',
              ...(long ? { deadline: 600_000 } : {}),
              target: () => 'shop',
              run: async (_record, signal) => {
                asked.push(id);
                await answer(id, signal);
              },
            },
      done: (_tx, _id, record, { held }) => (held ? next?.() : record),
      waiting: async function* () {
        yield (await store.keys({ prefix: 'errand/' })).map((key) => key.slice('errand/'.length));
      },
      again: (record, now) => (record.process === undefined && record.due > now ? { ...record, due: now } : undefined),
    };
    return new DueWork<Errand, void>({ records: own, work, outside, clock, incarnations: { id: life }, random: () => 0.5 });
  };
  const add = async (id: string, record: Partial<Errand> = {}): Promise<void> => {
    await store.transaction(async (tx) => records().put(tx, id, undefined, { due: clock.millis(), ...record }));
    commits = 0;
  };
  const stored = async (id = 'a'): Promise<Errand | undefined> => records().get(id);
  const schedule = async (): Promise<{ id: string; in: number }[]> =>
    (await store.keys({ prefix: SCHEDULE })).map((key) => parseDueKey(key)!).map(({ id, at }) => ({ id, in: at - clock.millis() }));
  const run = async (id = 'a', by = machine()): ReturnType<DueWork<Errand, void>['run']> => {
    const at = (await stored(id))!.due;
    return by.run({ key: dueKey(at, 'job', id), at, kind: 'job', id }, NEVER);
  };

  test('costs two commits: the claim, and the outcome, which moves the record or removes it with all its index entries', async () => {
    await add('a', { urgent: true });
    next = () => ({ due: clock.millis() + 5_000 });
    expect(await run()).toMatchObject({ state: 'done' });
    expect(commits).toBe(2);
    expect(await schedule()).toEqual([{ id: 'a', in: 5_000 }]);
    expect(await store.keys({ prefix: 'urgent/' })).toEqual([]);
    next = undefined;
    await clock.advance('5s');
    await run();
    expect([await stored(), await schedule()]).toEqual([undefined, []]);
  });

  test('keeps a failure with its time and tries again later and later', async () => {
    await add('a');
    answer = async () => {
      throw new UpstreamFailed('closed today');
    };
    expect(await run()).toMatchObject({ state: 'failed', reason: 'closed today' });
    expect(await stored()).toEqual({
      due: clock.millis() + 10_000,
      attempts: 1,
      last_error: { message: 'closed today', at: clock.millis() },
      failing_since: clock.millis(),
    });
    await run();
    expect(await stored()).toMatchObject({ attempts: 2, due: clock.millis() + 20_000 });
    expect(await schedule()).toEqual([{ id: 'a', in: 20_000 }]);
  });

  test('is postponed in one commit, without a claim, while the circuit breaker of its outside system is open', async () => {
    await add('a');
    for (let i = 0; i < 5; i += 1) outside.breakers.failed('m/shop');
    expect(await run()).toEqual({ state: 'delayed' });
    expect([commits, asked, await stored()]).toEqual([1, [], { due: clock.millis() + 5_000 }]);
  });

  test('that may take longer than a minute renews its claim, and ends when somebody else has taken it over', async () => {
    await add('a', { long: true });
    let heard!: AbortSignal;
    answer = async (_id, signal) => {
      heard = signal;
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    };
    const attempt = run();
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance('5m');
    expect(heard.aborted).toBe(false);
    expect((await stored())!.due - clock.millis()).toBeGreaterThan(50_000);
    await records().change('a', (record) => ({ ...record, claim: 'two', process: 'two' }));
    await clock.advance('30s');
    expect(await attempt).toMatchObject({ state: 'failed', reason: 'another server has taken over the work' });
    expect(await stored()).toMatchObject({ claim: 'two', process: 'two' });
  });

  test('holds a claim while it works: nobody else may, and a second attempt in one process is the same attempt', async () => {
    await add('a');
    let end!: () => void;
    answer = async () => new Promise((resolve) => (end = resolve));
    const one = machine('one');
    const found = (await stored())!;
    const first = one.attempt('a', found, NEVER);
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await stored()).toMatchObject({ process: 'one', due: clock.millis() + 75_000 });
    expect(await machine('two').attempt('a', found, NEVER)).toEqual({ state: 'gone' });
    const second = one.attempt('a', found, NEVER);
    end();
    expect(await second).toBe(await first);
    expect(asked).toEqual(['a']);
  });

  test('a deadline ends it as a failure, and an end of the server as an interruption, which is no failure of the outside system', async () => {
    await add('a');
    answer = async () => new Promise(() => undefined);
    const late = run();
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance('60s');
    expect(await late).toMatchObject({ state: 'failed', reason: 'no answer within 60 s' });
    expect(outside.breakers.status('m/shop').failures).toBe(1);

    const stop = new AbortController();
    const stopped = machine().attempt('a', (await stored())!, stop.signal);
    while (asked.length === 1) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('the server is stopping'));
    expect(await stopped).toMatchObject({ state: 'interrupted', reason: 'the server is stopping' });
    expect(await stored()).toMatchObject({ attempts: 1, due: clock.millis() });
    expect((await stored())!.process).toBeUndefined();
    expect(outside.breakers.status('m/shop').failures).toBe(1);
  });

  test('what was changed while it ran keeps the change', async () => {
    await add('a');
    const later = clock.millis() + 3_600_000;
    answer = async () => {
      await records().change('a', () => ({ due: later, urgent: true }));
    };
    expect(await run()).toMatchObject({ state: 'done' });
    expect(await stored()).toEqual({ due: later, urgent: true });
    answer = async (id) => {
      await records().change(id, () => ({ due: later + 1 }));
      throw new Error('too late');
    };
    await run();
    expect(await stored()).toEqual({ due: later + 1 });
  });

  test('work without a handler is kept with the reason', async () => {
    await add('unknown');
    expect(await run('unknown')).toEqual({ state: 'absent', reason: 'no handler is known' });
    expect(await stored('unknown')).toMatchObject({
      attempts: 1,
      last_error: { message: 'no handler is known' },
      due: clock.millis() + 10_000,
    });
  });

  test('an index entry that disagrees with its record is corrected', async () => {
    await add('a', { due: clock.millis() + 1_000 });
    const stale = dueKey(clock.millis(), 'job', 'a');
    await store.transaction(async (tx) => tx.mark(stale));
    await machine().run({ key: stale, at: clock.millis(), kind: 'job', id: 'a' }, NEVER);
    expect([asked, await schedule()]).toEqual([[], [{ id: 'a', in: 1_000 }]]);
  });

  test('what an ended process had claimed is due at once; what others have is not', async () => {
    for (const [id, process] of [
      ['a', 'dead'],
      ['b', 'alive'],
      ['c', undefined],
    ] as const) {
      await add(id, { due: clock.millis() + 50_000, ...(process ? { process } : {}) });
    }
    expect(await machine().handOn(new Set(['dead']))).toBe(1);
    expect([await stored('a'), (await stored('b'))!.due, commits]).toEqual([{ due: clock.millis() }, clock.millis() + 50_000, 1]);
  });

  test('an outside system that is back makes due what waits for it, many in one commit; a damaged record harms no other', async () => {
    for (let i = 0; i < 60; i += 1) await add(`e${i}`, { due: clock.millis() + 9_000, attempts: 1 });
    await driver.commit({ put: [{ key: 'errand/e1', value: Buffer.from('nonsense') }] });
    commits = 0;
    await machine().retryTarget('m', 'market');
    expect(commits).toBe(0);
    await machine().retryTarget('m', 'shop');
    expect(commits).toBe(1);
    expect((await schedule()).filter((entry) => entry.in === 0)).toHaveLength(59);
  });

  test('a record that does not fit its schema is treated as damaged', async () => {
    await store.transaction(async (tx) => tx.put('errand/a', { due: 'soon' }));
    await expect(machine().run({ key: dueKey(0, 'job', 'a'), at: 0, kind: 'job', id: 'a' }, NEVER)).rejects.toThrow(
      'it is not as this version stores it',
    );
  });
});
