import { describe, expect, test } from '@jest/globals';
import { HashingBulkhead, type HashingQueue } from '../src/hashing-bulkhead.ts';

const never = new AbortController().signal;

/** Work in a queue that ends when the test says so. */
function worker(queues: Record<string, HashingQueue>) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, signal = never): Promise<string> =>
    queues[name.charAt(0)]!.run(signal, async () => {
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

describe('the bulkhead of hashes', () => {
  test('lets some run at once, and the others in turn', async () => {
    const bulkhead = new HashingBulkhead({ running: 2, waiting: 9 });
    const { started, begin, end, settle } = worker({ a: bulkhead.queue() });
    const all = Promise.all(['a1', 'a2', 'a3', 'a4'].map(async (name) => begin(name)));
    await settle();
    expect(started).toEqual(['a1', 'a2']);
    await end('a2');
    expect(started).toEqual(['a1', 'a2', 'a3']);
    for (const name of ['a1', 'a3', 'a4']) await end(name);
    expect(await all).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  test('serves the queues in turn, however many wait in one of them', async () => {
    const bulkhead = new HashingBulkhead({ running: 1, waiting: 9 });
    const { started, begin, end, settle } = worker({ a: bulkhead.queue(), b: bulkhead.queue() });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) void begin(name);
    await settle();
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
    await end('a4');
  });

  test('refuses with 429 when a queue is full, and only that queue', async () => {
    const bulkhead = new HashingBulkhead({ running: 1, waiting: 1 });
    const { started, begin, end, settle } = worker({ a: bulkhead.queue(), b: bulkhead.queue() });
    void begin('a1');
    void begin('a2');
    await settle();
    await expect(begin('a3')).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
    void begin('b1');
    for (const name of ['a1', 'a2', 'b1']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1']);
  });

  test('a caller who leaves gives up the place in the bulkhead', async () => {
    const bulkhead = new HashingBulkhead({ running: 1, waiting: 2 });
    const { started, begin, end, settle } = worker({ a: bulkhead.queue() });
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
    const bulkhead = new HashingBulkhead({ running: 1, waiting: 3 });
    const queue = bulkhead.queue();
    const leaving = new AbortController();
    await bulkhead.enter(queue, never);
    const left = bulkhead.enter(queue, leaving.signal);
    const next = bulkhead.enter(queue, never);
    bulkhead.leave();
    leaving.abort(new Error('gone'));
    const outcome = await left.catch((error: Error) => error.message);
    if (outcome === undefined) bulkhead.leave();
    await next;
    bulkhead.leave();
    await bulkhead.enter(queue, never);
  });

  test('work that fails makes place for the next', async () => {
    const queue = new HashingBulkhead({ running: 1, waiting: 1 }).queue();
    await expect(queue.run(never, async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await queue.run(never, async () => 'fine')).toBe('fine');
  });
});
