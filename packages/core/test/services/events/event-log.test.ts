import { describe, expect, test } from '@jest/globals';
import type { CoreEvent } from '../../../src/services/events/core-event.ts';
import { EventLog } from '../../../src/services/events/event-log.ts';
import { positionText, readPosition } from '../../../src/services/events/position.ts';

const event = (name: string): CoreEvent => ({ kind: 'secret.written', time: 0, name });

function logOf(capacity: number, ...entries: [life: string, number: number][]): EventLog {
  const log = new EventLog(capacity);
  for (const [life, number] of entries) log.append({ life, number, event: event(`${life}${number}`) });
  return log;
}
const names = (log: EventLog, position: Record<string, number>): string[] | undefined =>
  log.since(new Map(Object.entries(position)))?.map(({ life, number, event }) => (event ? event.name! : `missing to ${life}${number}`));

describe('the log of events', () => {
  test('returns exactly what a position does not have, whatever the order of arrival', () => {
    const log = logOf(9, ['a', 1], ['b', 1], ['a', 2], ['b', 2]);
    expect(names(log, { a: 1, b: 2 })).toEqual(['a2']);
    expect(names(log, { a: 2, b: 2 })).toEqual([]);
    expect(names(log, { a: 2 })).toEqual(['b1', 'b2']);
    expect(names(log, {})).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('does not answer for what has been forgotten', () => {
    const log = logOf(2, ['a', 1], ['a', 2], ['a', 3], ['b', 1]);
    expect(names(log, { a: 2 })).toEqual(['a3', 'b1']);
    expect(names(log, { a: 1 })).toBeUndefined();
    expect(names(log, { b: 1 })).toBeUndefined();
  });

  test('does not answer for a life that it does not know, nor for numbers that have not been', () => {
    const log = logOf(9, ['a', 1]);
    expect(names(log, { z: 1 })).toBeUndefined();
    expect(names(log, { a: 2 })).toBeUndefined();
  });

  test('says where numbers are left out, and passes over those that it has', () => {
    const log = logOf(9, ['a', 1], ['a', 4], ['a', 4], ['a', 2]);
    expect(names(log, { a: 1 })).toEqual(['missing to a3', 'a4']);
  });

  test('of a life that it meets in the middle, the beginning is forgotten', () => {
    const log = logOf(9, ['a', 1], ['b', 5]);
    expect(names(log, { a: 1 })).toBeUndefined();
    expect(names(log, { a: 1, b: 4 })).toEqual(['b5']);
  });

  test('keeps its last events however many there were', () => {
    const log = new EventLog(10);
    for (let number = 1; number <= 1_000; number += 1) log.append({ life: 'a', number, event: event(`a${number}`) });
    expect(names(log, { a: 990 })).toHaveLength(10);
    expect(names(log, { a: 989 })).toBeUndefined();
  });
});

describe('a position', () => {
  test('is the same after it was written and read', () => {
    const position = new Map([
      ['aB3_-x', 12],
      ['other', 0],
    ]);
    expect(readPosition(positionText(position))).toEqual(position);
  });

  test.each(['', 'a', 'a.', '.1', 'a.b', 'a.1~', 'a.1;b.2', 'a.-1', 'a.1e3', '../x.1', `a.${'9'.repeat(16)}`, 'a.1~'.repeat(2_000)])(
    'is not read from %j',
    (text) => {
      expect(readPosition(text)).toBeUndefined();
    },
  );
});
