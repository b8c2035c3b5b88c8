import { describe, expect, test } from '@jest/globals';
import ldapjs from 'ldapjs';
import { MessageFrames } from '../src/message-frames.ts';
import { ber } from './raw-server.ts';

function cut(chunks: readonly Buffer[]): Buffer[] {
  const messages: Buffer[] = [];
  const frames = new MessageFrames((message) => messages.push(Buffer.from(message)));
  for (const chunk of chunks) frames.push(chunk);
  return messages;
}

const small = ber(0x30, ber(2, [1]), ber(0x64, ber(4, 'cn=a'), ber(0x30)));
const long = ber(0x30, ber(2, [2]), ber(0x64, ber(4, 'cn=b'), ber(0x30, ber(4, 'x'.repeat(300)))));

describe('cutting a stream into messages', () => {
  test.each([1, 2, 3, 5, 7, 64, 10_000])('pieces of %i bytes give the same messages', (size) => {
    const stream = Buffer.concat([small, long, small, small, long]);
    const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, i) => stream.subarray(i * size, (i + 1) * size));
    expect(cut(chunks)).toEqual([small, long, small, small, long]);
  });

  test('what ldapjs cannot take, very many messages in one chunk, is cut', () => {
    const stream = Buffer.concat(Array.from({ length: 50_000 }, () => small));
    expect(cut([stream])).toHaveLength(50_000);
    const parser = new (ldapjs as unknown as { Parser: new () => { write(data: Buffer): void } }).Parser();
    // It runs out of stack.
    expect(() => parser.write(stream)).toThrow();
  });

  test('a long message is joined once, however many pieces it comes in', () => {
    const value = Buffer.alloc(4 << 20, 'x');
    const header = Buffer.from([0x30, 0x84, 0, 0, 0, 0]);
    header.writeUInt32BE(value.length, 2);
    const pieces = Array.from({ length: value.length / 1_024 }, (_, i) => value.subarray(i * 1_024, (i + 1) * 1_024));
    const { concat } = Buffer;
    let joined = 0;
    Buffer.concat = (list) => {
      joined += 1;
      return concat(list);
    };
    try {
      expect(cut([header, ...pieces])).toHaveLength(1);
    } finally {
      Buffer.concat = concat;
    }
    expect(joined).toBe(1);
  });

  test.each([
    ['another protocol', Buffer.from('HTTP/1.1'), 'a message begins with 0x48 instead of 0x30'],
    ['an indefinite length', Buffer.from([0x30, 0x80, 0]), 'a message has no definite length'],
    ['a length that cannot be', Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), 'a message of 4294967295 bytes is too long'],
  ])('%s is refused', (_what, bytes, text) => {
    expect(() => cut([bytes])).toThrow(text);
  });
});
