import { describe, expect, test } from '@jest/globals';
import { pageCookie, splitControls } from '../src/message-controls.ts';
import { MessageIds } from '../src/message-ids.ts';
import { ber } from './raw-server.ts';

const operation = ber(0x65, ber(0x0a, [0]), ber(4, ''), ber(4, 'x'.repeat(200)));
const plain = ber(0x30, ber(2, [1]), operation);

describe('the controls of a message', () => {
  test('a message without any comes back as it is', () => {
    expect(splitControls(plain)).toEqual({ message: plain, controls: new Map() });
  });

  test('they are taken off, with their values, whatever these are', () => {
    const controls = ber(
      0xa0,
      ber(0x30, ber(4, '1.2.3')),
      ber(0x30, ber(4, '1.2.4'), ber(1, [0xff])),
      ber(0x30, ber(4, '1.2.5'), ber(1, [0]), ber(4, [0xff, 0])),
      ber(0x30, ber(4, '1.2.6'), ber(4, 'value')),
    );
    const { message, controls: found } = splitControls(ber(0x30, ber(2, [1]), operation, controls));
    expect(message.subarray(6)).toEqual(plain.subarray(4));
    expect(message.readUInt32BE(2)).toBe(message.length - 6);
    expect([...found]).toEqual([
      ['1.2.3', Buffer.alloc(0)],
      ['1.2.4', Buffer.alloc(0)],
      ['1.2.5', Buffer.from([0xff, 0])],
      ['1.2.6', Buffer.from('value')],
    ]);
  });

  test.each([0, 1, 3, 5, 40])('a message that is cut short after %i bytes is none', (length) => {
    expect(() => splitControls(plain.subarray(0, length))).toThrow('a message is cut short');
  });

  test('the cookie of a page is read, an empty one too', () => {
    expect(pageCookie(ber(0x30, ber(2, [0]), ber(4, [1, 0, 2])))).toEqual(Buffer.from([1, 0, 2]));
    expect(pageCookie(ber(0x30, ber(2, [0]), ber(4, '')))).toEqual(Buffer.alloc(0));
    expect(() => pageCookie(Buffer.from('garbage'))).toThrow('a message is cut short');
  });
});

describe('ids of messages', () => {
  test('count from 1, and again from 1 after 2147483647, past those that wait for an answer', () => {
    const ids = new MessageIds();
    expect([ids.next(() => false), ids.next(() => false)]).toEqual([1, 2]);
    const late = new MessageIds(2 ** 31 - 3);
    const waiting = new Set([1, 2]);
    expect(Array.from({ length: 4 }, () => late.next((id) => waiting.has(id)))).toEqual([2147483646, 2147483647, 3, 4]);
  });
});
