import { describe, expect, test } from '@jest/globals';
import { HashingQueue, type HashingLane } from '../src/hashing-queue.ts';

const never = new AbortController().signal;

/** Work in a lane that ends when the test says so. */
function worker(lanes: Record<string, HashingLane>) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, signal = never): Promise<string> =>
    lanes[name.charAt(0)]!.run(signal, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const settle = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await settle();
  };
  return { started, begin, end, settle };
}

describe('the queue of hashes', () => {
  test('lets some run at once, and the others in turn', async () => {
    const queue = new HashingQueue({ running: 2, waiting: 9 });
    const { started, begin, end, settle } = worker({ a: queue.lane() });
    const all = Promise.all(['a1', 'a2', 'a3', 'a4'].map(async (name) => begin(name)));
    await settle();
    expect(started).toEqual(['a1', 'a2']);
    await end('a2');
    expect(started).toEqual(['a1', 'a2', 'a3']);
    for (const name of ['a1', 'a3', 'a4']) await end(name);
    expect(await all).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  test('serves the lanes in turn, however many wait in one of them', async () => {
    const queue = new HashingQueue({ running: 1, waiting: 9 });
    const { started, begin, end, settle } = worker({ a: queue.lane(), b: queue.lane() });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) void begin(name);
    await settle();
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
    await end('a4');
  });

  test('refuses with 429 when a lane is full, and only that lane', async () => {
    const queue = new HashingQueue({ running: 1, waiting: 1 });
    const { started, begin, end, settle } = worker({ a: queue.lane(), b: queue.lane() });
    void begin('a1');
    void begin('a2');
    await settle();
    await expect(begin('a3')).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
    void begin('b1');
    for (const name of ['a1', 'a2', 'b1']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1']);
  });

  test('a caller who leaves gives up the place in the queue', async () => {
    const queue = new HashingQueue({ running: 1, waiting: 2 });
    const { started, begin, end, settle } = worker({ a: queue.lane() });
    const leaving = new AbortController();
    void begin('a1');
    const left = begin('a2', leaving.signal);
    void begin('a3');
    await settle();
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    void begin('a4');
    for (const name of ['a1', 'a3', 'a4']) await end(name);
    expect(started).toEqual(['a1', 'a3', 'a4']);
    await expect(begin('a5', leaving.signal)).rejects.toThrow('gone');
  });

  test('a caller who leaves in the moment of their turn passes it on', async () => {
    const queue = new HashingQueue({ running: 1, waiting: 3 });
    const lane = queue.lane();
    const leaving = new AbortController();
    await queue.enter(lane, never);
    const left = queue.enter(lane, leaving.signal);
    const next = queue.enter(lane, never);
    queue.leave();
    leaving.abort(new Error('gone'));
    const outcome = await left.catch((error: Error) => error.message);
    if (outcome === undefined) queue.leave();
    await next;
    queue.leave();
    await queue.enter(lane, never);
  });

  test('work that fails makes place for the next', async () => {
    const lane = new HashingQueue({ running: 1, waiting: 1 }).lane();
    await expect(lane.run(never, async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await lane.run(never, async () => 'fine')).toBe('fine');
  });
});
