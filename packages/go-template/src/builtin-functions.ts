import { escapeHtml, escapeJs, escapeQuery } from './go-escape.ts';
import { goSprint, goSprintf, goSprintln } from './go-printf.ts';
import { TemplateFunctionError } from './template-error.ts';
import type { TemplateFunction } from './template-function.ts';
import { byteLength, bytesToText, textToBytes } from './text-bytes.ts';
import type { TemplateValue } from './value.ts';
import { GoFloat, entriesOf, isTrue, toValue, typeName } from './value.ts';

/** The functions of Go's text/template, but for `call`. `and` and `or` are here for their names; the compiler runs them. */
export const BUILTIN_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  and: { parameters: ['any'], rest: 'any', call: (args) => args.find((arg) => !isTrue(arg)) ?? args[args.length - 1] ?? null },
  or: { parameters: ['any'], rest: 'any', call: (args) => args.find(isTrue) ?? args[args.length - 1] ?? null },
  not: { parameters: ['any'], call: ([arg = null]) => !isTrue(arg) },
  eq: { parameters: ['any'], rest: 'any', call: ([first = null, ...others]) => equalsAny(first, others) },
  ne: { parameters: ['any', 'any'], call: ([a = null, b = null]) => !equals(a, b) },
  lt: { parameters: ['any', 'any'], call: ([a = null, b = null]) => compare(a, b) < 0 },
  le: { parameters: ['any', 'any'], call: ([a = null, b = null]) => compare(a, b) <= 0 },
  gt: { parameters: ['any', 'any'], call: ([a = null, b = null]) => compare(a, b) > 0 },
  ge: { parameters: ['any', 'any'], call: ([a = null, b = null]) => compare(a, b) >= 0 },
  len: { parameters: ['any'], call: ([value = null]) => length(value) },
  index: { parameters: ['any'], rest: 'any', call: ([value = null, ...keys]) => keys.reduce<TemplateValue>(indexed, value) },
  slice: { parameters: ['any'], rest: 'any', call: ([value = null, ...bounds]) => sliced(value, bounds) },
  print: { parameters: [], rest: 'any', call: (args) => goSprint(args) },
  println: { parameters: [], rest: 'any', call: (args) => goSprintln(args) },
  printf: { parameters: ['string'], rest: 'any', call: ([format, ...args], { spend }) => goSprintf(format as string, args, spend) },
  html: { parameters: [], rest: 'any', call: (args) => escapeHtml(joined(args)) },
  js: { parameters: [], rest: 'any', call: (args) => escapeJs(joined(args)) },
  urlquery: { parameters: [], rest: 'any', call: (args) => escapeQuery(joined(args)) },
};

function joined(args: readonly TemplateValue[]): string {
  return goSprint(args.map((arg) => arg ?? '<no value>'));
}

type Kind = 'bool' | 'int' | 'float' | 'string' | 'nil' | 'other';

function kindOf(value: TemplateValue): Kind {
  if (value === null) return 'nil';
  if (value instanceof GoFloat) return 'float';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return 'int';
    case 'string':
      return 'string';
    default:
      return 'other';
  }
}

function equalsAny(first: TemplateValue, others: readonly TemplateValue[]): boolean {
  if (others.length === 0) throw new TemplateFunctionError('missing argument for comparison');
  return others.some((other) => equals(first, other));
}

function equals(a: TemplateValue, b: TemplateValue): boolean {
  const kind = kindOf(a);
  const other = kindOf(b);
  if (kind === 'other' || other === 'other') throw new TemplateFunctionError(`non-comparable type ${typeName(kind === 'other' ? a : b)}`);
  if (kind === 'nil' || other === 'nil') return kind === other;
  if (kind !== other) throw incompatible(a, b);
  return a instanceof GoFloat && b instanceof GoFloat ? a.value === b.value : a === b;
}

function incompatible(a: TemplateValue, b: TemplateValue): TemplateFunctionError {
  return new TemplateFunctionError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
}

function compare(a: TemplateValue, b: TemplateValue): number {
  if (['nil', 'other', 'bool'].includes(kindOf(a)) || kindOf(b) === 'nil' || kindOf(b) === 'other') {
    throw new TemplateFunctionError('invalid type for comparison');
  }
  if (kindOf(a) !== kindOf(b)) throw incompatible(a, b);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(textToBytes(a), textToBytes(b));
  const [left, right] = [a, b].map((value) => (value instanceof GoFloat ? value.value : (value as number)));
  return (left ?? 0) - (right ?? 0);
}

function length(value: TemplateValue): number {
  if (typeof value === 'string') return byteLength(value);
  if (Array.isArray(value)) return value.length;
  const entries = entriesOf(value);
  if (entries !== undefined) return entries.length;
  throw new TemplateFunctionError(value === null ? 'len of nil pointer' : `len of type ${typeName(value)}`);
}

function indexed(value: TemplateValue, key: TemplateValue): TemplateValue {
  if (value === null) throw new TemplateFunctionError('index of untyped nil');
  if (typeof value === 'string' || Array.isArray(value)) {
    const items = typeof value === 'string' ? textToBytes(value) : (value as readonly unknown[]);
    const at = position(key, items.length);
    if (at === items.length)
      throw new TemplateFunctionError(`reflect: ${typeof value === 'string' ? 'string' : 'slice'} index out of range`);
    return toValue(items[at]);
  }
  const entries = entriesOf(value);
  if (entries === undefined) throw new TemplateFunctionError(`can't index item of type ${typeName(value)}`);
  if (typeof key !== 'string') throw new TemplateFunctionError(`value has type ${typeName(key)}; should be string`);
  return entries.find(([name]) => name === key)?.[1] ?? null;
}

function sliced(value: TemplateValue, bounds: readonly TemplateValue[]): TemplateValue {
  if (value === null) throw new TemplateFunctionError('slice of untyped nil');
  if (bounds.length > 3) throw new TemplateFunctionError(`too many slice indexes: ${bounds.length}`);
  if (typeof value !== 'string' && !Array.isArray(value)) throw new TemplateFunctionError(`can't slice item of type ${typeName(value)}`);
  if (typeof value === 'string' && bounds.length === 3) throw new TemplateFunctionError('cannot 3-index slice a string');
  const items = typeof value === 'string' ? textToBytes(value) : (value as readonly unknown[]);
  const [from = 0, to = items.length, cap = to] = bounds.map((bound) => position(bound, items.length));
  if (from > to) throw new TemplateFunctionError(`invalid slice index: ${from} > ${to}`);
  if (to > cap) throw new TemplateFunctionError(`invalid slice index: ${to} > ${cap}`);
  const part = items.slice(from, to);
  return part instanceof Uint8Array ? bytesToText(part) : (part as readonly unknown[]);
}

function position(key: TemplateValue, size: number): number {
  if (typeof key !== 'number') {
    throw new TemplateFunctionError(
      key === null ? 'cannot index slice/array with nil' : `cannot index slice/array with type ${typeName(key)}`,
    );
  }
  if (key < 0 || key > size) throw new TemplateFunctionError(`index out of range: ${key}`);
  return key;
}
