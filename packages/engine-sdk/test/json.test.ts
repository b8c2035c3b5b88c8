import { describe, expect, test } from '@jest/globals';
import {
  compileDecoder,
  ExactNumber,
  f,
  isPlainJson,
  JsonFault,
  JsonReader,
  type JsonTooComplex,
  leastJsonLength,
  readJson,
  readStoredJson,
  toFloats,
  writeJson,
  writeStoredJson,
  writeStoredJsonInTurns,
} from '@strongroom/engine-sdk';

/** Numbers that a float does not return, and some that it does. */
const EXACT = ['12345678901234567890', '0.10000000000000001', '9007199254740993', '1e400', '-1E-400', '1.0', '1e5', '-0', '0.0', '1E2'];
const FLOATS = ['0', '-1', '1.5', '123456789012345', '1e+21', '5e-324', '0.1', '9007199254740992'];

const LIMITS = { maxDepth: 16, maxStrings: 10_000, maxValues: 10_000 };

describe('numbers', () => {
  test.each(EXACT)('%s keeps its digits from text to text', (number) => {
    const text = `{"a":[${number},{"b":${number}}],"c":"x"}`;
    expect(isPlainJson(text, LIMITS)).toBe(false);
    expect(writeJson(readJson(text))).toBe(text);
    expect(writeStoredJson(readJson(text))).toBe(` ${text}`);
    expect(writeJson(readStoredJson(` ${text}`))).toBe(text);
  });

  test.each(FLOATS)('%s is a plain number', (number) => {
    expect(isPlainJson(`[${number}]`, LIMITS)).toBe(true);
    expect(readJson(`[${number}]`)).toEqual([Number(number)]);
    expect(writeStoredJson(readJson(`[${number}]`))).toBe(JSON.stringify([Number(number)]));
  });

  test('an exact number written by others is the nearest float, or its digits where none is near', () => {
    expect(JSON.stringify([new ExactNumber('9007199254740993'), new ExactNumber('1e400')])).toBe('[9007199254740992,"1e400"]');
    expect(Number(new ExactNumber('1.0'))).toBe(1);
    expect(String(new ExactNumber('1.0'))).toBe('1.0');
  });

  test('floats share what does not change, and keep a key named __proto__', () => {
    const value = readJson('{"a":{"b":1},"__proto__":[1.0,{"c":1e3}]}') as Record<string, unknown>;
    const floats = toFloats(value, () => 0) as Record<string, unknown>;
    expect(JSON.stringify(floats)).toBe('{"a":{"b":1},"__proto__":[1,{"c":1000}]}');
    expect(floats['a']).toBe(value['a']);
    expect(Object.getPrototypeOf(floats)).toBe(Object.prototype);
  });

  test('what no float is near is named by its path', () => {
    const seen: string[] = [];
    const note = (at: string, text: string): null => {
      seen.push(`${at}=${text}`);
      return null;
    };
    toFloats({ a: [1, new ExactNumber('1e400')], b: { c: new ExactNumber('-1e999') }, d: Infinity }, note);
    expect(seen).toEqual(['a.1=1e400', 'b.c=-1e999', 'd=Infinity']);
  });

  test('fields: texts get the digits, numbers the nearest float, maps the nearest floats or as they came', () => {
    const fields = { s: f.string('s'), i: f.int('i'), m: f.map('m'), d: f.duration('d'), l: f.commaStrings('l') };
    const sent = '{"s":12345678901234567890,"i":1.0,"m":{"x":9007199254740993},"d":1e2,"l":[1.0]}';
    const plain = JSON.parse(sent) as Record<string, unknown>;
    const exact = readJson(sent) as Record<string, unknown>;
    expect(compileDecoder(fields)(plain, {}, true, exact).data).toEqual({
      s: '12345678901234567890',
      i: 1,
      m: { x: 9007199254740992 },
      d: 100,
      l: ['1.0'],
    });
    const kept = compileDecoder(fields, { exactNumbers: true })(plain, {}, true, exact).data as { m: unknown };
    expect(writeJson(kept.m)).toBe('{"x":9007199254740993}');
  });

  test.each([
    ['{"m":{"x":[1e400]}}', 'field "m.x.0" is 1e400, which a 64-bit float cannot hold'],
    ['{"n":1e400}', 'the number is beyond what a 64-bit float holds'],
  ])('%s is refused in fields that cannot hold it', (sent, text) => {
    const decode = compileDecoder({ m: f.map('m'), n: f.float('n') });
    const plain = JSON.parse(sent) as Record<string, unknown>;
    expect(() => decode(plain, {}, true, readJson(sent) as Record<string, unknown>)).toThrow(text);
  });
});

describe('reading in turns', () => {
  /** The value, and how many turns it took. */
  const inTurns = (text: string, work: number): [value: unknown, turns: number] => {
    const reader = new JsonReader(text);
    let turns = 1;
    while (!reader.step(work)) turns += 1;
    return [reader.value, turns];
  };

  const VALUES: unknown[] = [
    {},
    [],
    { a: { b: [1, 2, [{}], { c: null }] }, d: [true, false] },
    { text: 'é€😀"\\\n\u0001', 'k"é😀': '\\"', '': '' },
    { 1: 'one', constructor: { prototype: 1 }, toString: 2, a: -1.5e-7 },
  ];

  test.each([1, 3, 7, 1_000_000])('with %i bytes of work a turn, each value is what JSON.parse gives', (work) => {
    for (const value of VALUES) {
      for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2), JSON.stringify(value).replace(/[^\0-~]/g, escaped)])
        expect(inTurns(text, work)[0]).toEqual(JSON.parse(text));
    }
  });

  test('a key named __proto__ is a key like any other', () => {
    const [value] = inTurns('{"__proto__":{"polluted":1}}', 5) as [object, number];
    expect(Object.getOwnPropertyNames(value)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('long strings are put together of pieces, wherever escapes and characters of several bytes fall', () => {
    for (const unit of ['é', '😀', '€\n', '"\\', '\ud83d\ude00\t', 'ab\u0001']) {
      const long = `${'x'.repeat(3)}${unit.repeat(30_000)}`;
      for (const text of [JSON.stringify({ a: long }), `{"a":"${[...long].map(written).join('')}"}`]) {
        const [value, turns] = inTurns(text, 10_000);
        expect((value as { a: string }).a === long).toBe(true);
        expect(turns).toBeGreaterThan(1);
      }
    }
  });

  test('a turn does no more than its work allows: bytes, and sixteen for each value', () => {
    const [, turns] = inTurns(`[${'{},'.repeat(100_000)}0]`, 65_536);
    expect(turns).toBeGreaterThanOrEqual(Math.floor((300_000 + 16 * 100_000) / 65_536));
    const [, blanks] = inTurns(`${' '.repeat(1_000_000)}1`, 65_536);
    expect(blanks).toBeGreaterThanOrEqual(15);
  });

  test('nothing is built beyond a limit', () => {
    const stopped = (text: string): [string, number, number] => {
      const reader = new JsonReader(text, LIMITS);
      try {
        while (!reader.step(Infinity));
      } catch (error) {
        const { what, limit } = error as JsonTooComplex;
        return [what, limit, reader.values];
      }
      return ['', 0, reader.values];
    };
    expect(stopped(`[${'{},'.repeat(1_000_000)}0]`)).toEqual(['number of values', 10_000, 10_001]);
    expect(stopped(`${'['.repeat(17)}`)).toEqual(['nesting depth', 16, 17]);
    expect(stopped(`[${'['.repeat(15)}${']'.repeat(15)},[]]`)[0]).toBe('');
    expect(stopped(`[${Array.from({ length: 9_998 }, () => '"a"').join(',')}]`)[0]).toBe('');
    expect(stopped(`{${Array.from({ length: 6_000 }, (_, index) => `"${index}":"x"`).join(',')}}`)[0]).toBe('number of strings');
    expect(stopped(`[${'1'.repeat(5_000)}]`)[0]).toBe('length of a number');
  });

  test('memory is counted: values, and the characters of strings', () => {
    const memoryOf = (text: string): number => {
      const reader = new JsonReader(text);
      while (!reader.step(Infinity));
      return reader.memory;
    };
    expect(memoryOf(`[${'{},'.repeat(1_000)}0]`)).toBeGreaterThan(64_000);
    expect(memoryOf(JSON.stringify(['x'.repeat(10_000)]))).toBeGreaterThan(10_000);
  });

  test('what follows the first value is ignored, and a text of blanks has none', () => {
    expect(readJson('{"a":1}{"b":2}')).toEqual({ a: 1 });
    expect(readJson(' \n')).toBeUndefined();
    expect(() => readJson('{"a":')).toThrow(JsonFault);
  });
});

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Every character as escapes. */
function written(char: string): string {
  return Array.from({ length: char.length }, (_, at) => escaped(char.charAt(at))).join('');
}

describe('writing in turns', () => {
  test('gives the bytes of writing at once, with turns in between', async () => {
    const values: unknown[] = [
      { a: [1, 'x', null, true, { b: {} }, []], 'k"é': '😀\n', skipped: undefined, date: new Date(0) },
      `${'x'.repeat(65_535)}😀${'é"'.repeat(300_000)}`,
      readJson(`{"__proto__":[${'1.0,'.repeat(50_000)}12345678901234567890],"s":"${'y'.repeat(200_000)}"}`),
      Array.from({ length: 100_000 }, (_, index) => ({ [`k${index}`]: index })),
    ];
    for (const value of values) {
      let turns = 0;
      const written = await writeStoredJsonInTurns(value, async () => {
        turns += 1;
      });
      const whole = writeStoredJson(value);
      expect(written.toString() === whole).toBe(true);
      expect(turns).toBeGreaterThanOrEqual(Math.floor(whole.length / 262_144));
      expect(leastJsonLength(value, Infinity)).toBeLessThanOrEqual(whole.length);
      expect(leastJsonLength(value, 10)).toBeGreaterThan(10);
    }
  });
});
