import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { HclBody, HclPlain } from '../src/index.ts';
import { HCL_MAX_DEPTH, HclSyntaxError, parseHcl, requireUniqueKeys, toPlain } from '../src/index.ts';
import { SAMPLES } from './samples.ts';

function errorOf(run: () => unknown): HclSyntaxError {
  try {
    run();
  } catch (error) {
    if (error instanceof HclSyntaxError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const shape = (body: HclBody): unknown[] => body.map((item) => [item.key, ...item.labels, item.assigned]);

describe('reading HCL', () => {
  test('items keep their order, their labels and where they stand', () => {
    const body = parseHcl('a = 1\n\n  path "x" y {\n    caps = ["r",\n      "w"]\n  }\na = 2\n');
    expect(body).toEqual([
      { key: 'a', labels: [], assigned: true, line: 1, column: 1, value: expect.objectContaining({ value: 1, line: 1, column: 5 }) },
      {
        key: 'path',
        labels: ['x', 'y'],
        assigned: false,
        line: 3,
        column: 3,
        value: expect.objectContaining({ kind: 'object', line: 3, column: 14 }),
      },
      { key: 'a', labels: [], assigned: true, line: 7, column: 1, value: expect.objectContaining({ value: 2, integer: true, text: '2' }) },
    ]);
    expect(body[1]?.value).toMatchObject({
      body: [
        {
          key: 'caps',
          line: 4,
          column: 5,
          value: {
            kind: 'list',
            items: [
              { value: 'r', line: 4, column: 13 },
              { value: 'w', line: 5, column: 7 },
            ],
          },
        },
      ],
    });
  });

  test('lines are counted through comments, heredocs and Windows line ends', () => {
    const body = parseHcl('/* 1\n2 */ # 2\r\na = <<EOT\r\nx\r\nEOT\r\nb = 1');
    expect(body.map(({ key, line, column }) => [key, line, column])).toEqual([
      ['a', 3, 1],
      ['b', 6, 1],
    ]);
    expect(body[0]?.value).toMatchObject({ value: 'x\n' });
  });

  test('a heredoc may end with the text', () => {
    expect(toPlain(parseHcl('a = <<-EOT\n  b\n  EOT'))).toEqual({ a: 'b\n' });
  });

  test('big and negative numbers keep the text they were written in', () => {
    expect(parseHcl('a = 9007199254740993\nb = -0x10')).toMatchObject([
      { value: { text: '9007199254740993', integer: true } },
      { value: { text: '-0x10', value: -16, integer: true } },
    ]);
  });

  test.each<[string, number, number, string]>([
    ['a = 1\nb = [1 2]', 2, 8, 'error parsing list, expected comma or list end, got: NUMBER'],
    ['a = 1\n\n  b = "x', 3, 7, 'literal not terminated'],
    ['a = {\n b = 1\n', 3, 1, 'object expected closing RBRACE got: EOF'],
    ['a =', 1, 4, 'expected a value, got: EOF'],
    ['a = 1 }', 1, 7, 'expected: IDENT | STRING | ASSIGN | LBRACE got: RBRACE'],
    ['a = "\\400"', 1, 5, 'illegal char escape'],
    ['a = "\\U00110000"', 1, 5, 'illegal char escape'],
    ['a\0', 1, 2, 'unexpected null character (0x00)'],
    ['a = [,]', 1, 6, 'unexpected token while parsing list: COMMA'],
    ['{"a": }', 1, 7, 'expected a value'],
    ['{"a": 1\n "b": 2}', 2, 2, "expected ',' or '}'"],
    ['{"a": ["x" "y"]}', 1, 12, "expected ',' or ']'"],
    ['{"a": "x\n"}', 1, 7, 'literal not terminated'],
    ['{"a": "\\q"}', 1, 7, 'illegal char escape'],
    ['{"a": 1} x', 1, 10, 'unexpected text after the closing brace'],
    ['{1: 2}', 1, 2, 'expected: STRING'],
  ])('%j is refused at %d:%d: %s', (text, line, column, reason) => {
    const error = errorOf(() => parseHcl(text));
    expect([error.line, error.column, error.reason]).toEqual([line, column, reason]);
    expect(error.message).toBe(`At ${line}:${column}: ${reason}`);
  });

  test.each(['a {', '{"a":', 'a = [', '{"a":['])('nesting is limited, not fatal: %s…', (opening) => {
    const closing = opening.endsWith('[') ? ']' : '}';
    const nested = (depth: number): string =>
      opening.startsWith('{')
        ? '{"a":'.repeat(1) + (closing === '}' ? '{"a":' : '[').repeat(depth - 1) + '1' + closing.repeat(depth - 1) + '}'
        : closing === '}'
          ? 'a {'.repeat(depth) + '}'.repeat(depth)
          : 'a = ' + '['.repeat(depth) + ']'.repeat(depth);
    expect(() => parseHcl(nested(HCL_MAX_DEPTH))).not.toThrow();
    expect(errorOf(() => parseHcl(nested(HCL_MAX_DEPTH + 1))).reason).toBe('nested more than 64 levels deep');
    expect(() => parseHcl(opening.repeat(100_000))).toThrow(HclSyntaxError);
  });

  test('labels are limited too', () => {
    expect(errorOf(() => parseHcl(`${'a '.repeat(100_000)} {}`)).reason).toBe('more than 64 labels');
  });

  test('long texts come to an end', () => {
    for (const text of [
      'a = "b" '.repeat(200_000),
      `a = "${'\\n'.repeat(500_000)}"`,
      `a = <<E\n${'x\n'.repeat(200_000)}E\n`,
      `{"a": [${'1,'.repeat(200_000)}1]}`,
    ]) {
      expect(() => parseHcl(text)).not.toThrow();
    }
  });
});

describe('reading JSON', () => {
  test('nested objects become labels, lists of objects become repeated items, and all stand where they are written', () => {
    const body = parseHcl('{"path": {"a": {"capabilities": ["read"]}, "b": {"policy": "deny"}}, "x": [{"y": 1}, {"y": 2}]}');
    expect(shape(body)).toEqual([
      ['path', 'a', false],
      ['path', 'b', false],
      ['x', false],
      ['x', false],
    ]);
    expect(body.map(({ line, column }) => `${line}:${column}`)).toEqual(['1:11', '1:44', '1:70', '1:70']);
  });

  test('positions count lines, and a list of objects stands where its key does', () => {
    const body = parseHcl('{\n  "path": {\r\n    "a": {\n      "capabilities": ["read",\n "x"]\n}}}', { labels: { path: 1 } });
    expect(body).toMatchObject([
      {
        line: 3,
        column: 5,
        value: { line: 3, column: 10, body: [{ line: 4, column: 7, value: { items: [{ line: 4 }, { line: 5, column: 2 }] } }] },
      },
    ]);
  });

  test('told how many labels a key carries, it makes neither more nor fewer', () => {
    const text = '{"path": {"a": {"allowed_parameters": {"b": []}}, "c": {"mfa": {"d": {}}}}}';
    expect(shape(parseHcl(text))).toEqual([
      ['path', 'a', 'allowed_parameters', false],
      ['path', 'c', 'mfa', 'd', false],
    ]);
    expect(shape(parseHcl(text, { labels: { path: 1 } }))).toEqual([
      ['path', 'a', false],
      ['path', 'c', false],
    ]);
    expect(toPlain(parseHcl(text, { labels: { path: 1 } }))).toEqual(JSON.parse(text));
    expect(shape(parseHcl('{"path": {"a": 1}}', { labels: { path: 1 } }))).toEqual([['path', 'a', false]]);
  });

  test('repeated keys are kept, and null is distinguished', () => {
    expect(parseHcl(' {"a": 1, "a": null,}')).toMatchObject([
      { key: 'a', value: { value: 1 } },
      { key: 'a', value: { kind: 'null' } },
    ]);
  });
});

describe('plain objects', () => {
  test.each<[string, Record<string, HclPlain>]>([
    ['path "a" { x = 1 } path "b" {}', { path: { a: { x: 1 }, b: {} } }],
    ['path "a" { x = 1 } path "a" { y = 2 }', { path: { a: [{ x: 1 }, { y: 2 }] } }],
    ['a { x = 1 }', { a: { x: 1 } }],
    ['a { x = 1 } a { x = 2 }', { a: [{ x: 1 }, { x: 2 }] }],
    ['a = 1 a = 2', { a: 2 }],
    ['a = [1] a = [true, "x"]', { a: [1, true, 'x'] }],
    ['a = 1 a "b" {}', { a: { b: {} } }],
  ])('%s', (text, plain) => {
    expect(toPlain(parseHcl(text))).toEqual(plain);
  });

  test('__proto__ is a key like any other', () => {
    const plain = toPlain(parseHcl('__proto__ { polluted = true }\na "__proto__" { b = 1 }'));
    expect(Object.keys(plain)).toEqual(['__proto__', 'a']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('unique keys', () => {
  test('a key assigned twice in one object is reported where it stands', () => {
    const error = errorOf(() => requireUniqueKeys(parseHcl('p "x" {\n  a = 1\n  b = 2\n  a = 3\n}')));
    expect(error.message).toBe('The argument "a" at 4:3 was already set. Each argument can only be defined once');
  });

  test('blocks may repeat, and so may a key in another object', () => {
    expect(() => requireUniqueKeys(parseHcl('p { a = 1 }\np { a = 1 }\na = [{ a = 1 }, { a = 2 }]'))).not.toThrow();
    expect(() => requireUniqueKeys(parseHcl('{"a": 1, "a": 2}'))).not.toThrow();
  });
});

describe('whatever the text', () => {
  const fragments = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '=',
    '"',
    'a',
    ' ',
    '\n',
    '\\',
    '${',
    '<<E',
    '\nE\n',
    '#',
    '/*',
    '*/',
    '0x',
    '1.',
    'e',
    '-',
    ',',
    'true',
    ':',
    '\ud800',
    '\u00e9',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fragments, { maxLength: 60 }).map((parts) => parts.join('')),
  );

  test('only HclSyntaxError is ever thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          texts.map((text) => `{${text}`),
        ),
        (text) => {
          try {
            toPlain(parseHcl(text));
          } catch (error) {
            expect(error).toBeInstanceOf(HclSyntaxError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('a sample cut short or with a character changed never fails otherwise', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(SAMPLES)), fc.nat(), fragments, (sample, at, other) => {
        const index = sample.length === 0 ? 0 : at % sample.length;
        for (const text of [sample.slice(0, index), sample.slice(0, index) + other + sample.slice(index + 1)]) {
          try {
            parseHcl(text);
          } catch (error) {
            expect(error).toBeInstanceOf(HclSyntaxError);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('values written out', () => {
  const words = fc.string({ unit: 'grapheme' });
  const leaf = fc.oneof(
    words,
    fc.integer(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  );
  const { value } = fc.letrec<{ value: HclPlain }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 4 }), fc.dictionary(words, tie('value'), { maxKeys: 4 })),
  }));

  const quoted = (text: string): string => JSON.stringify(text).replaceAll('${', '\\u0024{').replaceAll('\\/', '/');
  function written(plain: HclPlain): string {
    if (typeof plain === 'string') return quoted(plain);
    if (plain === null || typeof plain !== 'object') return String(plain);
    if (Array.isArray(plain)) return `[${plain.map(written).join(', ')}]`;
    return `{\n${Object.entries(plain)
      .map(([key, inner]) => `${quoted(key)} = ${written(inner)}`)
      .join('\n')}\n}`;
  }

  test('HCL read back is what was written', () => {
    fc.assert(fc.property(value, (plain) => expect(toPlain(parseHcl(`x = ${written(plain)}`))).toEqual({ x: plain })));
  });

  test('JSON read back is what was written, when no key carries labels', () => {
    fc.assert(
      fc.property(fc.dictionary(words, leaf), (plain) => {
        expect(toPlain(parseHcl(JSON.stringify(plain), { labels: {} }))).toEqual(plain);
      }),
    );
  });
});
