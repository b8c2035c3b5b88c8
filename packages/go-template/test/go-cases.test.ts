import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { TemplateEnvironment } from '../src/index.ts';
import { TemplateRenderError, TemplateSyntaxError, compileTemplate, utf16le } from '../src/index.ts';

/** What Go's text/template, with OpenBao's functions, made of these templates and the data below. */
const cases = JSON.parse(readFileSync(new URL('go-cases.json', import.meta.url), 'utf8')) as Record<
  'output' | 'syntax' | 'render',
  [template: string, expected: string][]
>;

const data = {
  DisplayName: 'token-with-long-name',
  RoleName: 'Read Only',
  Empty: '',
  Uni: 'grüße日本',
  N: 42,
  Neg: -7,
  Zero: 0,
  F: 3.14159,
  Yes: true,
  No: false,
  List: ['a', 'b', 'c'],
  None: [],
  Nums: [3, 1, 2],
  M: new Map([
    ['k', 'v'],
    ['j', 'w'],
  ]),
  Nested: { A: { B: 'deep' } },
  Nil: null,
};

const environment: TemplateEnvironment = {
  now: () => new Date('2024-03-05T07:08:09.012Z'),
  randomBytes: (count) => new Uint8Array(count).fill(17),
};

function rendered(template: string): string {
  return compileTemplate(template, { typeName: 'main.Data', functions: { utf16le } }).render(data, environment);
}

describe('as Go does it', () => {
  test.each(cases.output)('%j gives %j', (template, expected) => {
    expect(rendered(template)).toBe(expected);
  });

  test.each(cases.syntax)('%j does not compile: %j', (template, expected) => {
    expect(() => compileTemplate(template)).toThrow(TemplateSyntaxError);
    expect(() => compileTemplate(template)).toThrow(expected);
  });

  test.each(cases.render)('%j fails with: %j', (template, expected) => {
    expect(() => rendered(template)).toThrow(TemplateRenderError);
    expect(() => rendered(template)).toThrow(expected);
  });
});
