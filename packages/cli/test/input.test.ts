import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { readHiddenLine } from '../src/input.ts';

describe('a hidden line', () => {
  test('is asked for when the terminal has stopped to echo, and the echo comes back after it', async () => {
    const seen: string[] = [];
    const stdin = Object.assign(new PassThrough(), { setRawMode: (raw: boolean) => seen.push(raw ? 'echo off' : 'echo on') });
    const line = readHiddenLine(stdin, () => {
      seen.push('question');
      stdin.write('typed\r');
    });
    expect(await line).toBe('typed');
    expect(seen).toEqual(['echo off', 'question', 'echo on']);
  });
});
