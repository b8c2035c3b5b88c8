import { describe, expect, test } from '@jest/globals';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { automaticWorkers, coresAtHand } from '../../src/config/cores.ts';
import { checkConfiguration } from '../../src/config/read-configuration.ts';
import { lastingCounts, mergedMetrics, type MetricFamilySnapshot } from '../../src/metrics/merged-metrics.ts';
import type { FromWorker, ToWorker } from '../../src/workers/messages.ts';
import { Supervisor } from '../../src/workers/supervisor.ts';
import { CountsOfAll, KNOWN } from '../../src/workers/counts-of-all.ts';
import { workerConfiguration } from '../../src/workers/worker-configuration.ts';
import { WorkerCounts } from '../../src/workers/worker-counts.ts';
import { WorkerSiblings, type WorkerPlace } from '../../src/workers/worker-siblings.ts';
import type { End, WorkerProcess } from '../../src/workers/worker-process.ts';

/** A worker in this process, which does nothing by itself. */
class FakeWorker implements WorkerProcess {
  /** The system gives numbers out again. */
  readonly pid = 100;
  readonly told: ToWorker[] = [];
  readonly siblings: WorkerSiblings;
  killed = false;
  #heard: (message: FromWorker) => void = () => undefined;
  #ended: (end: End) => void = () => undefined;
  #over = false;

  constructor(readonly place: WorkerPlace) {
    this.siblings = new WorkerSiblings(place, (message) => this.say(message));
  }

  send(message: ToWorker): void {
    this.told.push(message);
    if (message.kind !== 'stop' && message.kind !== 'reload') this.siblings.hear(structuredClone(message));
  }
  hear(heard: (message: FromWorker) => void): void {
    this.#heard = heard;
  }
  onEnd(ended: (end: End) => void): void {
    this.#ended = ended;
  }
  kill(): void {
    this.killed = true;
    this.end(null, 'SIGKILL');
  }
  say(message: FromWorker): void {
    this.#heard(message);
  }
  listen(sealed = true): void {
    const listening = { addresses: [`http://127.0.0.1:${this.place.number}`], sealed, initialized: !sealed, automatic: false };
    this.say({ kind: 'listening', listening });
  }
  end(code: number | null, signal: string | null = null): void {
    // A process ends once.
    if (this.#over) return;
    this.#over = true;
    this.#ended({ code, signal });
  }
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
};

async function supervised(count = 2) {
  const clock: ManualClock = manualClock();
  const log: string[] = [];
  const forked: FakeWorker[] = [];
  const write = (message: string): void => void log.push(message);
  const supervisor = new Supervisor({
    ...{ count, clock },
    log: { debug: write, info: write, warn: write, error: write },
    fork: (place) => {
      const worker = new FakeWorker(place);
      forked.push(worker);
      return worker;
    },
  });
  const ready = supervisor.start();
  ready.catch(() => undefined);
  const serve = async (): Promise<void> => {
    forked[0]!.listen();
    await settled();
    for (const worker of forked.slice(1)) worker.listen();
    await ready;
  };
  return { supervisor, clock, log, forked, ready, serve };
}

describe('the supervisor', () => {
  test('starts the first worker alone, and is ready once all listen', async () => {
    const { forked, serve, ready } = await supervised(3);
    expect(forked).toHaveLength(1);
    await serve();
    expect(forked.map(({ place }) => place.number)).toEqual([1, 2, 3]);
    expect(await ready).toMatchObject({ addresses: ['http://127.0.0.1:1'] });
    expect(forked.map(({ siblings }) => [siblings.running, siblings.first])).toEqual([
      [3, true],
      [3, false],
      [3, false],
    ]);
  });

  test('says that the server is unsealed if somebody unseals it before all workers listen', async () => {
    const { forked, ready } = await supervised();
    forked[0]!.listen();
    await settled();
    forked[1]!.listen(false);
    expect(await ready).toEqual({ addresses: ['http://127.0.0.1:1'], sealed: false, initialized: true, automatic: false });
  });

  test('gives up where a worker cannot start, with its reason', async () => {
    const { forked, ready } = await supervised();
    forked[0]!.say({ kind: 'failed', reason: 'cannot listen on 127.0.0.1:1' });
    forked[0]!.end(1);
    await expect(ready).rejects.toThrow('cannot listen on 127.0.0.1:1');
    expect(forked).toHaveLength(1);
  });

  test.each([
    ['the first one, while the others start', 0, []],
    ['one of the others, while the last one starts', 1, [1]],
    ['one that has just listened, together with the last one', 1, [1, 2]],
  ])('gives up where a worker ends before all listen: %s', async (_, ending, listening) => {
    const { forked, ready, supervisor } = await supervised(3);
    forked[0]!.listen();
    await settled();
    for (const at of listening) forked[at]!.listen();
    forked[ending]!.end(null, 'SIGKILL');
    await settled();
    for (const [at, worker] of forked.entries()) {
      if (at === ending) continue;
      worker.listen();
      expect(worker.told).toContainEqual({ kind: 'stop', reason: 'a worker could not start' });
      worker.end(0);
    }
    await expect(ready).rejects.toThrow(`worker ${ending + 1} ended while the server started: killed by SIGKILL`);
    expect(forked).toHaveLength(3);
    expect(await supervisor.ended).toBe(1);
  });

  test('gives up where another worker than the first cannot start', async () => {
    const { forked, ready } = await supervised();
    forked[0]!.listen();
    await settled();
    forked[1]!.say({ kind: 'failed', reason: 'cannot read the certificate' });
    forked[1]!.end(1);
    await settled();
    forked[0]!.end(0);
    await expect(ready).rejects.toThrow('cannot read the certificate');
    expect(forked).toHaveLength(2);
  });

  test('replaces a worker that ends as soon as all have listened', async () => {
    const { forked, serve } = await supervised(3);
    await serve();
    forked[1]!.end(1);
    await settled();
    expect(forked.map(({ place }) => place.number)).toEqual([1, 2, 3, 2]);
  });

  test('starts no other worker, and ends with 0, when it gets the order to stop while the first one starts', async () => {
    const { forked, ready, supervisor } = await supervised(3);
    supervisor.stop('SIGTERM');
    forked[0]!.listen();
    await settled();
    expect(forked[0]!.told).toContainEqual({ kind: 'stop', reason: 'SIGTERM' });
    forked[0]!.end(0);
    expect(await ready).toBeUndefined();
    expect(await supervisor.ended).toBe(0);
    expect(forked).toHaveLength(1);
  });

  test('ends with 0 when it gets the order to stop while the others start, though the signal ends one that does not listen to signals yet', async () => {
    const { forked, ready, supervisor } = await supervised(3);
    forked[0]!.listen();
    await settled();
    supervisor.stop('SIGTERM');
    forked[1]!.end(null, 'SIGTERM');
    forked[2]!.listen();
    forked[2]!.end(0);
    forked[0]!.end(0);
    expect(await ready).toBeUndefined();
    expect(await supervisor.ended).toBe(0);
    expect(forked).toHaveLength(3);
  });

  test.each<[string, number, number | null, string | null]>([
    ['the first one, which does not listen to signals yet', 0, null, 'SIGTERM'],
    ['the first one, which ends in order', 0, 0, null],
    ['another one', 1, null, 'SIGINT'],
  ])('ends with 0 when the order to stop reaches a worker before it while they start: %s', async (_, ending, code, signal) => {
    const { forked, ready, supervisor } = await supervised(3);
    if (ending > 0) forked[0]!.listen();
    await settled();
    forked[ending]!.end(code, signal);
    for (const worker of forked.slice(ending + 1)) worker.listen();
    await settled();
    supervisor.stop('SIGTERM');
    for (const [at, worker] of forked.entries()) if (at !== ending) worker.end(0);
    expect(await ready).toBeUndefined();
    expect(await supervisor.ended).toBe(0);
  });

  test.each([0, 1])('gives up where only worker %i gets the order to stop while they start', async (ending) => {
    const { clock, forked, ready, supervisor } = await supervised();
    forked[0]!.listen();
    await settled();
    forked[1 - ending]!.listen();
    forked[ending]!.end(null, 'SIGTERM');
    await settled();
    await clock.advance(2_000);
    forked[1 - ending]!.end(0);
    await expect(ready).rejects.toThrow(`worker ${ending + 1} ended while the server started: killed by SIGTERM`);
    expect(await supervisor.ended).toBe(1);
  });

  test.each([0, 1])('starts worker %i again where a reload ends it before it listens to signals', async (ending) => {
    const { forked, ready, supervisor, log } = await supervised();
    if (ending > 0) forked[0]!.listen();
    await settled();
    forked[ending]!.end(null, 'SIGHUP');
    for (let at = ending; at < 3; at += 1) {
      await settled();
      forked[at]?.listen();
    }
    expect(await ready).toBeDefined();
    expect(forked.map(({ place: { number, start } }) => [number, start])).toContainEqual([ending + 1, 2]);
    expect(forked).toHaveLength(3);
    expect(log.join()).not.toMatch(/error/i);
    supervisor.stop('SIGTERM');
    for (const worker of forked) worker.end(0);
    expect(await supervisor.ended).toBe(0);
  });

  test('ends with 1 when workers are killed while they start', async () => {
    const { forked, ready, supervisor } = await supervised();
    supervisor.stop('SIGTERM');
    supervisor.kill();
    expect(await ready).toBeUndefined();
    expect(await supervisor.ended).toBe(1);
    expect(forked).toHaveLength(1);
  });

  test('starts a worker again at once, then after 1 and 2 seconds, and ends after five failures within a minute', async () => {
    const { forked, serve, clock, supervisor } = await supervised();
    await serve();
    const fail = async (): Promise<number> => {
      forked.at(-1)!.end(1);
      await settled();
      return forked.length;
    };
    expect(await fail()).toBe(3);
    expect(await fail()).toBe(3);
    await clock.advance('1s');
    expect(forked).toHaveLength(4);
    expect(await fail()).toBe(4);
    await clock.advance('2s');
    expect(forked).toHaveLength(5);
    expect(await fail()).toBe(5);
    await clock.advance('4s');
    await fail();
    expect(forked[0]!.told).toContainEqual({ kind: 'stop', reason: 'workers keep failing' });
    forked[0]!.end(0);
    expect(await supervisor.ended).toBe(1);
  });

  test('does not count against a worker that it served for a minute, nor that it was stopped in order', async () => {
    const { forked, serve, clock } = await supervised();
    await serve();
    for (let i = 0; i < 6; i += 1) {
      forked[0]!.say({ kind: 'beat' });
      const last = forked.at(-1)!;
      last.listen();
      for (let tick = 0; tick < 61; tick += 1) {
        for (const worker of [forked[0]!, last]) worker.say({ kind: 'beat' });
        await clock.advance('1s');
      }
      last.end(1);
      await settled();
    }
    expect(forked).toHaveLength(8);
    for (let i = 0; i < 6; i += 1) {
      forked.at(-1)!.end(0);
      await settled();
    }
    expect(forked).toHaveLength(14);
  });

  test('starts all workers again that served for an hour and are killed at once', async () => {
    const { forked, serve, clock, log } = await supervised(8);
    await serve();
    for (let tick = 0; tick < 3_600; tick += 1) {
      for (const worker of forked) worker.say({ kind: 'beat' });
      await clock.advance('1s');
    }
    for (const worker of forked.slice()) worker.end(null, 'SIGKILL');
    await settled();
    expect(forked.slice(8).map(({ place }) => place.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const worker of forked.slice(8)) worker.listen();
    expect(log.at(-1)).toBe('all workers are running');
    expect(log).not.toContain('stopping: workers keep failing');
  });

  test('takes the time in which a worker starts for no service', async () => {
    const { forked, serve, clock } = await supervised();
    await serve();
    forked[1]!.end(1);
    await settled();
    for (let tick = 0; tick < 90; tick += 1) {
      for (const worker of [forked[0]!, forked[2]!]) worker.say({ kind: 'beat' });
      await clock.advance('1s');
    }
    forked[2]!.end(1);
    await settled();
    expect(forked).toHaveLength(3);
    await clock.advance('1s');
    expect(forked).toHaveLength(4);
  });

  test('ends a worker whose event loop stands still, and starts another', async () => {
    const { forked, serve, clock, log } = await supervised();
    await serve();
    for (let tick = 0; tick < 31; tick += 1) {
      forked[0]!.say({ kind: 'beat' });
      await clock.advance('1s');
    }
    await settled();
    expect(forked.map(({ killed }) => killed)).toEqual([false, true, false]);
    expect(log).toEqual(expect.arrayContaining(['a worker does not answer', 'a worker is ended because it does not answer']));
  });

  test('waits five minutes where no worker answers: the disk may stand still, and the key would be lost', async () => {
    const { forked, serve, clock } = await supervised();
    await serve();
    for (let tick = 0; tick < 299; tick += 1) await clock.advance('1s');
    expect(forked.map(({ killed }) => killed)).toEqual([false, false]);
    for (let tick = 0; tick < 2; tick += 1) await clock.advance('1s');
    expect(forked.slice(0, 2).map(({ killed }) => killed)).toEqual([true, true]);
  });

  test('goes on starting a worker that says why it cannot start, as on a full disk, while another one serves', async () => {
    const { forked, serve, clock, log } = await supervised();
    await serve();
    forked[1]!.end(null, 'SIGKILL');
    await settled();
    let ended = 2;
    for (let tick = 0; tick < 120; tick += 1) {
      forked[0]!.say({ kind: 'beat' });
      for (; ended < forked.length; ended += 1) {
        forked[ended]!.say({ kind: 'failed', reason: 'storage lmdb: the disk is full' });
        forked[ended]!.end(1);
      }
      await settled();
      await clock.advance('1s');
    }
    expect(forked.length).toBeGreaterThan(7);
    expect(forked[0]!.told).not.toContainEqual(expect.objectContaining({ kind: 'stop' }));
    expect(log).not.toContain('stopping: workers keep failing');
  });

  test('lets workers stop for 30 seconds, then kills them and ends with 1', async () => {
    const { forked, serve, clock, supervisor } = await supervised();
    await serve();
    supervisor.stop('SIGTERM');
    forked[0]!.end(0);
    await settled();
    for (let tick = 0; tick < 30; tick += 1) {
      forked[1]!.say({ kind: 'beat' });
      await clock.advance('1s');
    }
    expect(forked[1]!.killed).toBe(true);
    expect(await supervisor.ended).toBe(1);
    expect(forked).toHaveLength(2);
  });

  test('asks all the others, and waits neither for one that has ended nor for one that hangs', async () => {
    const { forked, serve, clock } = await supervised(3);
    await serve();
    const [one, two, three] = forked as [FakeWorker, FakeWorker, FakeWorker];
    for (const [worker, answer] of [
      [two, 'two'],
      [three, 'three'],
    ] as const)
      worker.siblings.answer('who', () => answer);
    expect(await one.siblings.ask('who')).toEqual(['two', 'three']);
    expect(await one.siblings.ask('nothing')).toEqual([]);
    three.siblings.answer('who', async () => new Promise(() => undefined));
    const hanging = one.siblings.ask('who', undefined, 2_000);
    await settled();
    await clock.advance('2s');
    expect(await hanging).toEqual(['two']);
    // It is known to hang: nobody waits for it a second time, and everybody for the other one.
    expect(await one.siblings.ask('who')).toEqual(['two']);
    let answer: (text: string) => void = () => undefined;
    two.siblings.answer('who', async () => new Promise((resolve) => (answer = resolve)));
    let answers: readonly unknown[] | undefined;
    const slow = one.siblings.ask('who').then((all) => (answers = all));
    await settled();
    expect(answers).toBeUndefined();
    answer('two, late');
    await slow;
    expect(answers).toEqual(['two, late']);
    two.siblings.answer('who', () => 'two');
    // It says something: it is waited for again, until it ends.
    three.siblings.answer('what', () => 'three');
    expect(await one.siblings.ask('what')).toEqual(['three']);
    const ended = one.siblings.ask('who');
    await settled();
    three.end(1);
    expect(await ended).toEqual(['two']);
  });

  test('gives out turns one at a time, and takes that of a worker which has ended', async () => {
    const { forked, serve } = await supervised();
    await serve();
    const [one, two] = forked as [FakeWorker, FakeWorker];
    const order: string[] = [];
    void one.siblings.inTurn('x', async () => {
      order.push('one');
      await new Promise(() => undefined);
    });
    const second = two.siblings.inTurn('x', async () => void order.push('two'));
    await settled();
    expect(order).toEqual(['one']);
    one.end(1);
    await second;
    expect(order).toEqual(['one', 'two']);
  });

  test('keeps no key that it passes on', async () => {
    const { forked, serve } = await supervised();
    await serve();
    const [one, two] = forked as [FakeWorker, FakeWorker];
    const passed: Uint8Array[] = [];
    two.siblings.answer<Uint8Array>('key', (key) => key);
    const key = new Uint8Array([1, 2, 3]);
    one.say({ kind: 'ask', id: 99, topic: 'key', message: key, within: 1_000 });
    await settled();
    passed.push(key);
    expect([...passed[0]!]).toEqual([0, 0, 0]);
  });
});

describe('metrics of several processes', () => {
  const family = (name: string, type: string, aggregator: string, values: object[]): MetricFamilySnapshot =>
    ({ name, help: name, type, aggregator, values }) as never;
  const snapshot = (count: number, memory: number): MetricFamilySnapshot[] => [
    family('requests_total', 'counter', 'sum', [{ value: count, labels: { status: '200' } }]),
    family('unsealed', 'gauge', 'min', [{ value: count > 5 ? 1 : 0, labels: {} }]),
    family('process_memory', 'gauge', 'omit', [{ value: memory, labels: {} }]),
    family('seconds', 'summary', 'sum', [
      { value: memory, labels: { quantile: '0.5' } },
      { value: count, labels: {}, metricName: 'seconds_count' },
    ]),
  ];

  test('are added up, or shown by worker where that means nothing, with the counts of those that have ended', async () => {
    const merged = mergedMetrics(
      [
        { worker: 1, families: snapshot(10, 7) },
        { worker: 2, families: snapshot(5, 8) },
      ],
      lastingCounts(snapshot(100, 9)),
    );
    const text = await merged.metrics();
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
      'requests_total{status="200"} 115',
      'unsealed 0',
      'process_memory{worker="1"} 7',
      'process_memory{worker="2"} 8',
      'seconds{quantile="0.5",worker="1"} 7',
      'seconds_count 115',
      'seconds{quantile="0.5",worker="2"} 8',
    ]);
  });

  const countingSince = (worker: FakeWorker, count: number): CountsOfAll => {
    const counts = new CountsOfAll(worker.siblings);
    counts.share(async () => snapshot(count, 0));
    return counts;
  };
  const requests = async (counts: CountsOfAll, own: number): Promise<number> => {
    const text = await (await counts.with(snapshot(own, 0))).metrics();
    return Number(/^requests_total\{status="200"\} (\d+)$/m.exec(text)?.[1]);
  };

  test('have those of a new worker, though it has the process id of the one that it replaces, whose last counts stay', async () => {
    const { forked, serve } = await supervised();
    await serve();
    const asked = countingSince(forked[0]!, 10);
    countingSince(forked[1]!, 5);
    expect(await requests(asked, 10)).toBe(15);
    forked[1]!.end(1);
    forked[2]!.listen();
    expect(await requests(asked, 10)).toBe(15);
    countingSince(forked[2]!, 3);
    expect(await requests(asked, 10)).toBe(18);
    forked[2]!.say({ kind: 'beat', counts: snapshot(4, 0) });
    forked[2]!.end(0);
    expect(await requests(asked, 10)).toBe(19);
  });

  test('have the settled counts of a worker that ends after it was asked', async () => {
    const { forked, serve } = await supervised();
    await serve();
    const asked = countingSince(forked[0]!, 10);
    countingSince(forked[1]!, 5);
    forked[1]!.say({ kind: 'beat', counts: snapshot(4, 0) });
    const { siblings } = forked[0]!;
    const ask = siblings.ask.bind(siblings);
    siblings.ask = async (topic, ...rest) => {
      if (topic === KNOWN) forked[1]!.end(1);
      return ask(topic, ...rest);
    };
    expect(await requests(asked, 10)).toBe(14);
    expect(await requests(asked, 10)).toBe(14);
  });

  test('are kept in the same room however often workers end', () => {
    const counts = new WorkerCounts();
    for (let start = 1; start <= 1_000; start += 1)
      for (const worker of [1, 2]) {
        counts.counted({ worker, start, families: snapshot(1, 0) });
        counts.ended(worker, start);
        counts.counted({ worker, start, families: snapshot(1, 0) });
      }
    const { living, ended, lost } = counts.known;
    expect(living).toEqual([]);
    expect([...lost]).toEqual([
      [1, 1_000],
      [2, 1_000],
    ]);
    expect(ended.map(({ name, values }) => [name, values.map(({ value }) => value)])).toEqual([
      ['requests_total', [2_000]],
      ['seconds', [2_000]],
    ]);
    expect(structuredClone(ended)).toEqual(ended);
  });
});

test('workers divide the connections to PostgreSQL, the remainder going to the first ones', () => {
  const pools = (more: string, configured: number): (number | undefined)[] => {
    const text = `workers = ${configured}\nstorage "postgresql" {\n connection_url = "postgresql://x"\n ${more}\n}`;
    const whole = checkConfiguration([{ file: 'server.hcl', text }], { env: {}, dev: false });
    return Array.from({ length: configured }, (_, at) => {
      const { storage } = workerConfiguration(whole, { server: 'x', number: at + 1, start: 1, configured });
      return storage.type === 'postgresql' ? storage.poolSize : undefined;
    });
  };
  expect(pools('max_parallel = 14', 4)).toEqual([4, 4, 3, 3]);
  expect(pools('', 4)).toEqual([3, 3, 2, 2]);
  expect(pools('max_parallel = 2', 3)).toEqual([1, 1, 1]);
});

describe('the number of workers', () => {
  const workers = (text: string, dev = false): number => checkConfiguration([{ file: 'server.hcl', text }], { env: {}, dev }).workers;

  test('is 1 unless the configuration says otherwise', () => {
    expect(workers('')).toBe(1);
    expect(workers('workers = 3')).toBe(3);
    expect(workers('workers = "3"')).toBe(3);
    expect(workers('workers = 3\nstorage "lmdb" { path = "/x" }', true)).toBe(1);
    expect(workers('workers = "auto"\nstorage "inmem" {}')).toBe(1);
    expect(() => workers('workers = 2\nstorage "inmem" {}')).toThrow('workers must be 1 with the storage "inmem"');
    for (const wrong of ['0', '65', '"many"', '1.5'])
      expect(() => workers(`workers = ${wrong}`)).toThrow('workers must be a number from 1 to 64, or "auto"');
  });

  test('is by "auto" one less than the cores that there are, and 8 at most', () => {
    expect([1, 1.5, 2, 3, 4, 9, 64].map(automaticWorkers)).toEqual([1, 1, 1, 2, 3, 8, 8]);
    expect(coresAtHand((path) => (path.endsWith('cpu.max') ? '50000 100000\n' : undefined))).toBe(0.5);
    expect(coresAtHand((path) => (path.endsWith('quota_us') ? '-1\n' : path.endsWith('period_us') ? '100000\n' : undefined))).toBe(
      coresAtHand(() => undefined),
    );
  });
});
