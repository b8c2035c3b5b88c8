import { describe, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import type { HclBody, HclItem, HclValue } from '../src/index.ts';
import { HclSyntaxError, parseHcl } from '../src/index.ts';
import { BROKEN, SAMPLES } from './samples.ts';

/** HashiCorp's own HCL 1 parser, compiled to JavaScript: HCL text to JSON text. */
const oracle = createRequire(import.meta.url)('js-hcl-parser') as { parse(text: string): string };

/** The decoding of HCL 1: every object not directly in a list is a list of one, repeated ones are longer lists. */
function decode(body: HclBody): Record<string, unknown> {
  const out = new Map<string, unknown>();
  for (const item of body) {
    const [label, ...rest] = item.labels;
    const inner: unknown = label === undefined ? wrapped(item.value) : [decode([{ ...item, key: label, labels: rest } satisfies HclItem])];
    const before = out.get(item.key);
    out.set(item.key, Array.isArray(before) && Array.isArray(inner) ? [...(before as unknown[]), ...(inner as unknown[])] : inner);
  }
  return Object.fromEntries(out);
}

function wrapped(value: HclValue): unknown {
  if (value.kind === 'object') return [decode(value.body)];
  if (value.kind === 'list') return value.items.map((item) => (item.kind === 'object' ? decode(item.body) : wrapped(item)));
  return value.kind === 'null' ? '' : value.value;
}

describe('against the original HCL 1 parser', () => {
  test.each(Object.entries(SAMPLES))('%s reads alike', (_name, text) => {
    expect(decode(parseHcl(text))).toEqual(JSON.parse(oracle.parse(text)));
  });

  test.each(BROKEN)('both refuse %j', (text) => {
    expect(() => parseHcl(text)).toThrow(HclSyntaxError);
    expect(oracle.parse(text)).toMatch(/^unable to parse JSON: /);
  });

  const JSON_SAMPLES = [
    '{"path":{"secret/*":{"capabilities":["read","list"]},"sys/*":{"policy":"deny"}}}',
    '{"length":20,"rule":[{"charset":[{"charset":"abc","min-chars":1}]},{"charset":[{"charset":"01"}]}]}',
    '{"a":{"b":{"c":{"d":1}}},"e":[{"f":1},{"g":"x"}],"h":{"i":[{"j":1}]}}',
    '{"a":{"b":{"x":1},"c":2}, "d":{}, "e":[], "f":1.5, "g":true, "h":"a\\"b\\u00e9"}',
  ];
  test.each(JSON_SAMPLES)('the JSON %s reads alike', (text) => {
    expect(decode(parseHcl(text))).toEqual(JSON.parse(oracle.parse(text)));
  });
});
