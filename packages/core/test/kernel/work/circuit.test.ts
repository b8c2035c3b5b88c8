import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BadRequest, UpstreamFailed } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { OutsideSystems } from '../../../src/kernel/work/outside-systems.ts';
import { Outside, testEngine } from '../../test-engine.ts';

const NEVER = new AbortController().signal;

class Refused extends UpstreamFailed {
  override readonly answered = true;
}

describe('the circuit of an outside system', () => {
  let outside: Outside;
  let answer: () => Promise<void>;
  let calls: number;
  let mount: TestMount;
  beforeEach(async () => {
    outside = new Outside();
    calls = 0;
    answer = async () => undefined;
    const asked = async (): Promise<void> => {
      calls += 1;
      await answer();
    };
    mount = await mountForTest(testEngine(outside, { asked }), { path: 'acc' });
  });
  afterEach(async () => mount.close());

  const ask = async (system = 'one') => mount.call('update', `acc/asked/${system}`);
  const fails = (error: Error) => async (): Promise<void> => {
    throw error;
  };

  test('opens after five failures in a row: calls fail at once with Retry-After, then one at a time is let through', async () => {
    answer = fails(new UpstreamFailed('down'));
    for (let i = 0; i < 5; i += 1) expect((await ask()).status).toBe(500);
    expect(await ask()).toMatchObject({
      status: 503,
      errors: ['"one" failed 5 times in a row and its circuit breaker is open; try again in 5 s'],
      headers: { 'Retry-After': '5' },
    });
    expect(calls).toBe(5);
    expect((await ask('two')).status).toBe(500);

    await mount.clock.advance('5s');
    let finish!: () => void;
    answer = async () => new Promise((resolve) => (finish = resolve));
    const trial = ask();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await ask()).status).toBe(503);
    finish();
    expect(await trial).toMatchObject({ status: 200, data: { state: 'closed', failures: 0 } });
    answer = async () => undefined;
    expect((await ask()).status).toBe(200);
  });

  test('opens for longer after a failed trial, up to a minute', async () => {
    answer = fails(new UpstreamFailed('down'));
    for (let i = 0; i < 5; i += 1) await ask();
    for (const pause of [5, 10, 20, 40, 60, 60]) {
      expect(await ask()).toMatchObject({ status: 503, headers: { 'Retry-After': String(pause) } });
      await mount.clock.advance(pause);
      expect((await ask()).status).toBe(500);
    }
  });

  test('many calls that fail at once open it for the first pause, not for the longest', async () => {
    let fail!: (error: Error) => void;
    const failing = new Promise<void>((_, reject) => (fail = reject));
    answer = async () => failing;
    const many = Promise.all(Array.from({ length: 30 }, async () => ask()));
    while (calls < 30) await new Promise((resolve) => setImmediate(resolve));
    fail(new UpstreamFailed('down'));
    await many;
    expect(await ask()).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
  });

  test('does not count what the system answered, nor what never reached it', async () => {
    for (const error of [new Refused('no such table'), new BadRequest('wrong')]) {
      answer = fails(error);
      for (let i = 0; i < 10; i += 1) expect((await ask()).status).toBeLessThan(503);
    }
    answer = fails(new UpstreamFailed('down'));
    for (let i = 0; i < 4; i += 1) await ask();
    answer = fails(new Refused('no such table'));
    await ask();
    answer = fails(new UpstreamFailed('down'));
    for (let i = 0; i < 5; i += 1) expect((await ask()).status).toBe(500);
    expect((await ask()).status).toBe(503);
  });

  test('is one for requests and background work of the mount', async () => {
    answer = fails(new UpstreamFailed('down'));
    for (let i = 0; i < 5; i += 1) await ask();
    await mount.write('ticks/a', { after: '1s' });
    await mount.advance('1s');
    expect(outside.count('tick a')).toBe(0);
    await mount.advance('12s');
    expect(outside.count('tick a')).toBe(1);
    answer = async () => undefined;
    expect((await ask()).status).toBe(200);
  });

  test('of another mount is another one', async () => {
    await mount.call('update', 'sys/mounts/twin', { data: { type: 'test' } });
    answer = fails(new UpstreamFailed('down'));
    for (let i = 0; i < 5; i += 1) await ask();
    expect((await mount.call('update', 'twin/asked/one')).status).toBe(500);
  });
});

describe('an outside system', () => {
  let clock: ManualClock;
  let outside: OutsideSystems;
  beforeEach(() => {
    clock = manualClock();
    outside = new OutsideSystems(clock, { random: () => 0 });
  });
  const down = async (): Promise<never> => {
    throw new UpstreamFailed('down');
  };

  test('counts background work once, and lets its calls through when it is the trial', async () => {
    const circuit = outside.circuit('m/one', 'one');
    const work = async (admit: (signal: AbortSignal) => void, call: () => Promise<void>) => {
      const { signal } = new AbortController();
      admit(signal);
      await circuit.call(signal, call);
    };
    for (let i = 1; i <= 5; i += 1) {
      await outside.attempt('m/one', NEVER, async (admit) => work(admit, down));
      expect(circuit.status()).toMatchObject({ state: i < 5 ? 'closed' : 'open', failures: i });
    }
    expect(await outside.attempt('m/one', NEVER, down)).toEqual({ delay: 5_000, open: true });
    await clock.advance('5s');
    expect(circuit.status().state).toBe('half-open');
    expect(await outside.attempt('m/one', NEVER, async (admit) => work(admit, async () => undefined))).toEqual({ done: undefined });
    expect(circuit.status()).toEqual({ state: 'closed', failures: 0 });
  });

  test('takes settings for one target, and a reset', async () => {
    const circuit = outside.circuit('m/one', 'one');
    circuit.configure({ threshold: 2, pause: 1_000, longestPause: 1_000 });
    const call = async () => circuit.call(new AbortController().signal, down).catch(() => undefined);
    await call();
    expect(() => circuit.check()).not.toThrow();
    await call();
    expect(() => circuit.check()).toThrow('try again in 1 s');
    circuit.reset();
    expect(() => circuit.check()).not.toThrow();
    circuit.configure({ threshold: 0 });
    for (let i = 0; i < 20; i += 1) await call();
    expect(circuit.status()).toMatchObject({ state: 'closed', failures: 20 });
  });
});
