import { describe, expect, test } from '@jest/globals';
import { argumentRange } from '../src/command.ts';
import { flag } from '../src/flag.ts';
import { formatDuration, parseDuration } from '../src/duration.ts';
import { parseFlags } from '../src/flag-parser.ts';
import { closest } from '../src/suggest.ts';

const flags = {
  name: flag.text('A name.', { aliases: ['n'] }),
  force: flag.boolean('Force.'),
  renewable: flag.boolean('Renewable.', { fallback: true }),
  cas: flag.integer('Version.'),
  ttl: flag.duration('Life.'),
  policy: flag.list('Policies.'),
  meta: flag.map('Words.'),
  kind: flag.text('Kind.', { choices: ['service', 'batch'] }),
};

const parse = (...words: string[]) => parseFlags(words, flags);

describe('flags', () => {
  test('take one dash or two, and their value after = or as the next word', () => {
    for (const words of [['-name=x'], ['--name=x'], ['-name', 'x'], ['--name', 'x'], ['-n', 'x']]) {
      expect(parse(...words).values['name']).toBe('x');
    }
  });

  test('stand before or after positional words', () => {
    const parsed = parse('path', '-force', 'a=b', '-name', 'x', 'c=d');
    expect(parsed.positionals).toEqual(['path', 'a=b', 'c=d']);
    expect(parsed.values).toMatchObject({ force: true, name: 'x' });
  });

  test('keep everything after the first = as the value', () => {
    expect(parse('-name=a=b').values['name']).toBe('a=b');
    expect(parse('-meta=k=v=w').values['meta']).toEqual({ k: 'v=w' });
  });

  test('a boolean never takes the next word, and can be switched off', () => {
    expect(parse('-force', 'true').positionals).toEqual(['true']);
    expect(parse('-renewable=false').values['renewable']).toBe(false);
    expect(parse().values['renewable']).toBe(true);
    expect(() => parse('-force=maybe')).toThrow('Invalid boolean value "maybe" for flag -force');
  });

  test('collect when repeated', () => {
    expect(parse('-policy=a', '-policy', 'b').values['policy']).toEqual(['a', 'b']);
    expect(parse('-meta=a=1', '-meta=b=2').values['meta']).toEqual({ a: '1', b: '2' });
  });

  test('a lone dash is a positional word, and so is everything after two', () => {
    expect(parse('-', '--', '-force').positionals).toEqual(['-', '-force']);
  });

  test('a negative number can follow an integer flag', () => {
    expect(parse('-cas', '-1').values['cas']).toBe(-1);
  });

  test('wrong values are refused by the name of the flag', () => {
    expect(() => parse('-cas=two')).toThrow('Invalid value "two" for flag -cas: expected a whole number');
    expect(() => parse('-ttl=soon')).toThrow('Invalid value "soon" for flag -ttl');
    expect(() => parse('-meta=alone')).toThrow('Invalid value "alone" for flag -meta: expected key=value');
    expect(() => parse('-kind=odd')).toThrow('expected one of service, batch');
    expect(() => parse('-name')).toThrow('Flag -name needs a value');
  });

  test('an unknown flag is refused with the nearest known one', () => {
    expect(() => parse('-polcy=a')).toThrow('Unknown flag: -polcy. Did you mean "-policy"?');
    expect(() => parse('-constructor=a')).toThrow('Unknown flag: -constructor.');
  });

  test('know which of them were typed', () => {
    expect([...parse('-cas=0', '-force=false').given]).toEqual(['cas', 'force']);
  });
});

describe('durations', () => {
  test.each([
    ['90', 90],
    ['1h30m', 5400],
    ['1.5h', 5400],
    ['2d', 172800],
    ['-5s', -5],
    ['500ms', 0.5],
  ])('%s is %d seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(['', 'h', '1x', '1h-5m', '5 m'])('%j is no duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test('print without parts that are zero', () => {
    expect([0, 59, 300, 3600, 5400, 3661, 2764800, -60].map(formatDuration)).toEqual([
      '0s',
      '59s',
      '5m',
      '1h',
      '1h30m',
      '1h1m1s',
      '768h',
      '-1m',
    ]);
  });
});

describe('declared arguments', () => {
  test('say how many words a command takes', () => {
    expect(argumentRange(['PATH', '[K=V...]'])).toEqual({ least: 1, most: Infinity });
    expect(argumentRange(['KEY', 'DATA...'])).toEqual({ least: 2, most: Infinity });
    expect(argumentRange(['[TOKEN]', 'PATH'])).toEqual({ least: 1, most: 2 });
    expect(argumentRange([])).toEqual({ least: 0, most: 0 });
  });
});

describe('suggestions', () => {
  test('come nearest first, and not at all for a word unlike any', () => {
    expect(closest('unmont', ['mount', 'unmount', 'list'])[0]).toBe('unmount');
    expect(closest('xyzzy', ['mount', 'unmount', 'list'])).toEqual([]);
  });
});
