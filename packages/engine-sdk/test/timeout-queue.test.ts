import { describe, expect, jest, test } from '@jest/globals';
import { TimeoutQueue } from '../src/index.ts';
import { manualClock } from './manual-clock.ts';

class Item {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

function queueOf(clock = manualClock()): { clock: typeof clock; queue: TimeoutQueue<Item>; passed: string[] } {
  const passed: string[] = [];
  return { clock, passed, queue: new TimeoutQueue<Item>(clock, 1_000, ({ name }) => passed.push(name)) };
}

describe('TimeoutQueue', () => {
  test('calls back for each item when its own time is over, and once', async () => {
    const { clock, queue, passed } = queueOf();
    queue.add(new Item('first'));
    await clock.advance(400);
    queue.add(new Item('second'));
    await clock.advance(599);
    expect(passed).toEqual([]);
    await clock.advance(1);
    expect(passed).toEqual(['first']);
    await clock.advance(399);
    expect(passed).toEqual(['first']);
    await clock.advance(1);
    expect(passed).toEqual(['first', 'second']);
    await clock.advance(10_000);
    expect(passed).toEqual(['first', 'second']);
  });

  test('calls back for no item that was deleted', async () => {
    const { clock, queue, passed } = queueOf();
    queue.delete(queue.add(new Item('deleted')));
    await clock.advance(5_000);
    expect(passed).toEqual([]);
  });

  test('has one timer, whatever it holds', () => {
    const { clock, queue } = queueOf();
    const after = jest.spyOn(clock, 'after');
    for (let index = 0; index < 100; index += 1) {
      const timeout = queue.add(new Item(String(index)));
      if (index % 2 === 0) queue.delete(timeout);
    }
    expect(after).toHaveBeenCalledTimes(1);
  });

  test('begins the time of an item at a given moment', async () => {
    const { clock, queue, passed } = queueOf();
    await clock.advance(5_000);
    queue.add(new Item('earlier'), clock.millis() - 600);
    await clock.advance(1_000);
    expect(passed).toEqual(['earlier']);
  });

  test('takes items again after it was empty', async () => {
    const { clock, queue, passed } = queueOf();
    queue.add(new Item('before'));
    await clock.advance(3_000);
    queue.add(new Item('after'));
    await clock.advance(1_000);
    expect(passed).toEqual(['before', 'after']);
  });

  test('waits no longer than its time after the clock was set back', async () => {
    const { clock, queue, passed } = queueOf();
    await clock.advance(100_000);
    queue.add(new Item('set back'));
    await clock.advance(-50_000);
    await clock.advance(1_000);
    const after = jest.spyOn(clock, 'after');
    await clock.advance(50_000);
    expect(after.mock.calls.every(([millis]) => millis <= 1_000)).toBe(true);
    expect(passed).toEqual(['set back']);
  });
});
