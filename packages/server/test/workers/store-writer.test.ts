import { spawn, type ChildProcess } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { manualClock } from '@strongroom/engine-testkit';
import type { FromWorker, ToWorker } from '../../src/workers/messages.ts';
import { StoreWriter } from '../../src/workers/store-writer.ts';
import { startedProcess, type End, type WorkerProcess } from '../../src/workers/worker-process.ts';

/** A process that does nothing by itself. */
class FakeWriter implements WorkerProcess {
  readonly told: ToWorker[] = [];
  killed = false;
  say: (message: FromWorker) => void = () => undefined;
  #ended: (end: End) => void = () => undefined;

  constructor(readonly pid: number) {}

  send(message: ToWorker): void {
    this.told.push(message);
  }
  hear(heard: (message: FromWorker) => void): void {
    this.say = heard;
  }
  onEnd(ended: (end: End) => void): void {
    this.#ended = ended;
  }
  kill(): void {
    this.killed = true;
    this.end(null, 'SIGKILL');
  }
  end(code: number | null, signal: string | null = null, reason?: string): void {
    this.#ended({ code, signal, ...(reason === undefined ? {} : { reason }) });
  }
}

function kept() {
  const clock = manualClock();
  const forked: FakeWriter[] = [];
  const log: unknown[][] = [];
  const write = (...line: unknown[]): void => void log.push(line);
  const writer = new StoreWriter({
    fork: () => {
      const process = new FakeWriter(100 + forked.length);
      forked.push(process);
      return process;
    },
    clock,
    log: { debug: write, info: write, warn: write, error: write },
  });
  writer.start();
  return { writer, clock, forked, log };
}

const ENDED = 'the process that writes for the workers ended; each worker writes by itself until it runs again';

describe('the process that writes for the workers', () => {
  test('is started again at once, then after 1, 2, 4 … 30 seconds, and at once after a minute in which it ran', async () => {
    const { clock, forked, log } = kept();
    for (const seconds of [0, 1, 2, 4, 8, 16, 30, 30]) {
      const count = forked.length;
      forked.at(-1)!.end(1);
      if (seconds > 0) await clock.advance(`${seconds * 1_000 - 1}ms`);
      expect(forked).toHaveLength(count);
      await clock.advance('1ms');
      expect(forked).toHaveLength(count + 1);
      expect(log.at(-1)).toEqual([ENDED, { pid: 99 + count, code: 1, starts_in_seconds: seconds }]);
    }
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1);
      forked.at(-1)!.say({ kind: 'beat' });
    }
    forked.at(-1)!.end(null, 'SIGKILL');
    expect(log.at(-1)).toEqual([ENDED, { pid: 108, signal: 'SIGKILL', starts_in_seconds: 0 }]);
  });

  test('says in the log why it could not start', () => {
    const { forked, log } = kept();
    forked[0]!.say({ kind: 'failed', reason: 'storage lmdb: the path is not a folder' });
    forked[0]!.end(1);
    expect(log).toEqual([[ENDED, { pid: 100, code: 1, reason: 'storage lmdb: the path is not a folder', starts_in_seconds: 0 }]]);
  });

  test('has what its driver reports in the log of the supervisor', () => {
    const { forked, log } = kept();
    forked[0]!.say({ kind: 'said', level: 'warn', message: 'waiting for another process', fields: { seconds: 3 } });
    expect(log).toEqual([['waiting for another process', { seconds: 3 }]]);
  });

  test('is started later where the machine has no room for another process', async () => {
    const { clock, forked, log } = kept();
    forked[0]!.end(1, null, 'it could not be started: spawn EAGAIN');
    expect(log).toEqual([[ENDED, { pid: 100, code: 1, reason: 'it could not be started: spawn EAGAIN', starts_in_seconds: 0 }]]);
    await clock.advance(0);
    expect(forked).toHaveLength(2);
  });

  test.each([
    ['reports', () => spawn('/nowhere/node'), 'spawn /nowhere/node ENOENT'],
    [
      'throws',
      () => {
        throw new Error('spawn ENOMEM');
      },
      'spawn ENOMEM',
    ],
  ])('ends if the system %s why it starts no process', async (_, fork: () => ChildProcess, reason) => {
    const end = await new Promise((resolve) => startedProcess(fork).onEnd(resolve));
    expect(end).toEqual({ code: 1, signal: null, reason: `it could not be started: ${reason}` });
  });

  test('is killed at once where nobody waits for it', async () => {
    const { forked, writer, log } = kept();
    const stopped = writer.stop();
    writer.kill();
    await stopped;
    expect(forked[0]!.killed).toBe(true);
    expect(log).toEqual([]);
  });

  test('is ended if it does not answer for 30 seconds, and started again', async () => {
    const { clock, forked, log } = kept();
    for (let second = 0; second < 29; second += 1) await clock.advance(1);
    forked[0]!.say({ kind: 'beat' });
    for (let second = 0; second < 29; second += 1) await clock.advance(1);
    expect(forked[0]!.killed).toBe(false);
    await clock.advance(1);
    expect(forked[0]!.killed).toBe(true);
    expect(log[0]).toEqual(['killing the process that writes for the workers: it does not answer', { pid: 100, seconds: 30 }]);
    await clock.advance(0);
    expect(forked).toHaveLength(2);
  });

  test('stops when no worker needs it any more, is not started again, and is killed after 2 seconds', async () => {
    const { clock, forked, writer, log } = kept();
    const stopped = writer.stop();
    expect(forked[0]!.told).toEqual([{ kind: 'stop', reason: 'the workers have ended' }]);
    await clock.advance('1999ms');
    expect(forked[0]!.killed).toBe(false);
    await clock.advance('1ms');
    expect(forked[0]!.killed).toBe(true);
    await stopped;
    await clock.advance(60);
    expect(forked).toHaveLength(1);
    expect(log).toEqual([['killing the process that writes for the workers: it did not stop in time', { pid: 100, seconds: 2 }]]);
  });

  test('need not run in order to be stopped', async () => {
    const { clock, forked, writer } = kept();
    forked[0]!.end(1);
    await clock.advance(0);
    forked[1]!.end(1);
    await writer.stop();
    await clock.advance(60);
    expect(forked).toHaveLength(2);
  });
});
