import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { generatePassword, parsePasswordPolicy } from '../src/index.ts';

/** HashiCorp's own HCL 1 parser, compiled to JavaScript: HCL text to JSON text. */
const oracle = createRequire(import.meta.url)('js-hcl-parser') as { parse(text: string): string };

interface Policy {
  readonly length: number;
  readonly rule: readonly { readonly charset: readonly { readonly charset: string; readonly 'min-chars'?: number }[] }[];
}

function byOracle(text: string): { length: number; rules: { charset: string; minChars: number }[] } {
  const { length, rule } = JSON.parse(oracle.parse(text)) as Policy;
  return {
    length,
    rules: rule.flatMap(({ charset }) => charset).map((one) => ({ charset: one.charset, minChars: one['min-chars'] ?? 0 })),
  };
}

const rules = fc.array(
  fc.record({
    charset: fc
      .array(fc.constantFrom(...'abcxyzABC0123456789-_.:,;!#$%&()*+/<=>?@[]^|~ éß€'), { minLength: 1, maxLength: 30 })
      .map((chars) => chars.join('')),
    minChars: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 4 },
);

function written(length: number, charsets: readonly { charset: string; minChars?: number | undefined }[]): string {
  const blocks = charsets.map(({ charset, minChars }) =>
    [
      'rule "charset" {',
      `  charset = ${JSON.stringify(charset)}`,
      ...(minChars === undefined ? [] : [`  min-chars = ${minChars}`]),
      '}',
    ].join('\n'),
  );
  return [`length = ${length}`, ...blocks].join('\n');
}

describe('against the original HCL 1 parser', () => {
  test('a policy has the length and the rules that the parser reads', () => {
    fc.assert(
      fc.property(fc.integer({ min: 12, max: 40 }), rules, (length, charsets) => {
        const text = written(length, charsets);
        const { length: read, rules: found } = parsePasswordPolicy(text);
        expect({ length: read, rules: found }).toEqual(byOracle(text));
      }),
      { numRuns: 100 },
    );
  });

  test('a password meets the rules that the parser reads, and holds no other characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 40 }), fc.constantFrom(...['abc', 'xyz0', 'ABC']), (length, extra) => {
        const text = written(length, [
          { charset: 'abcdefghijklmnopqrstuvwxyz', minChars: 2 },
          { charset: '0123456789', minChars: 2 },
          { charset: extra, minChars: 1 },
        ]);
        const expected = byOracle(text);
        const password = [...generatePassword(parsePasswordPolicy(text), randomBytes)];
        expect(password).toHaveLength(expected.length);
        const allowed = expected.rules.map(({ charset }) => charset).join('');
        expect(password.filter((char) => !allowed.includes(char))).toEqual([]);
        for (const { charset, minChars } of expected.rules) {
          expect(password.filter((char) => charset.includes(char)).length).toBeGreaterThanOrEqual(minChars);
        }
      }),
      { numRuns: 50 },
    );
  });
});
