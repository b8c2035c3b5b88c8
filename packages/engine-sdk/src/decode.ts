import type { TProperties, TSchema } from 'typebox';
import { parseDuration } from './duration.ts';
import { BadRequest } from './errors.ts';
import { fieldSpec, type FieldKind, type Fold } from './field.ts';
import { ExactNumber, toFloats } from './json/exact-number.ts';
import { own } from './own.ts';
import { compileSchema, type SchemaCheck } from './schema.ts';
import { parseTimestamp } from './timestamp.ts';

/** A body and captures as the fields of a path want them. */
export interface Decoded {
  readonly data: Record<string, unknown>;
  readonly supplied: ReadonlySet<string>;
  /** What the caller sent that no field knows, sorted. */
  readonly unknown: readonly string[];
  /** Body keys that a capture of the path replaced, sorted. */
  readonly replaced: readonly string[];
}

/**
 * `writing`: the call creates, updates or patches, so that required fields must be there. `exact`: the body with its exact numbers, where it has any:
 * texts are made of their digits, and a number that no 64-bit float is near is refused.
 */
export type Decoder = (
  body: Readonly<Record<string, unknown>>,
  captures: Readonly<Record<string, string>>,
  writing?: boolean,
  exact?: Readonly<Record<string, unknown>>,
) => Decoded;

/** What a decoder does with keys and numbers that need care. */
export interface DecoderOptions {
  /** Fields that take any value get exact numbers as they came. */
  readonly exactNumbers?: boolean;
  /** Keys that no field knows are none of the decoder's business: `unknown` stays empty. */
  readonly arbitraryData?: boolean;
}

/** Kinds that are made of texts. */
const TEXTS: ReadonlySet<FieldKind> = new Set(['string', 'lowercase', 'name', 'commaStrings', 'strings', 'keyValues']);
/** Kinds whose value is what was sent. */
const OPEN: ReadonlySet<FieldKind> = new Set(['map', 'list', 'any']);

interface Plan {
  readonly name: string;
  readonly kind: FieldKind;
  readonly fallback: unknown;
  readonly required: boolean;
  readonly aliases: readonly string[];
  readonly check: SchemaCheck | undefined;
  readonly folds: Fold | undefined;
}

const nothing: readonly string[] = [];

/**
 * Compiles the fields of a path into one function: weak decoding first, then the schema of what it gave.
 * @throws BadRequest from the decoder, naming the field.
 */
export function compileDecoder(fields: TProperties, { exactNumbers = false, arbitraryData = false }: DecoderOptions = {}): Decoder {
  const plans: Plan[] = Object.entries(fields).map(([name, schema]) => {
    const spec = fieldSpec(schema);
    return {
      name,
      kind: spec.kind,
      fallback: (schema as { default?: unknown }).default,
      required: spec.required === true && spec.kind !== 'name',
      aliases: spec.aliases ?? nothing,
      check: constrained(schema) ? compileSchema(schema) : undefined,
      // Decoding lower-cases by itself.
      folds: spec.kind === 'lowercase' ? undefined : spec.folds,
    };
  });
  const known = new Set(plans.flatMap((plan) => [plan.name, ...plan.aliases]));

  const source = (plan: Plan, body: Readonly<Record<string, unknown>>, exact: Readonly<Record<string, unknown>>): unknown => {
    if (TEXTS.has(plan.kind)) return sent(exact, plan);
    if (!OPEN.has(plan.kind)) return sent(body, plan);
    return exactNumbers ? sent(exact, plan) : toFloats(sent(exact, plan), (at, number) => refuseNumber(plan.name, at, number));
  };

  return (body, captures, writing = true, exact = undefined) => {
    const data: Record<string, unknown> = {};
    const supplied = new Set<string>();
    for (const plan of plans) {
      const raw = own(captures, plan.name) ?? (exact ? source(plan, body, exact) : sent(body, plan));
      const value = raw === undefined ? undefined : decodeField(plan, raw);
      if (value === undefined) {
        if (plan.required && writing) throw new BadRequest(`missing required field "${plan.name}"`);
        data[plan.name] = plan.fallback;
      } else {
        supplied.add(plan.name);
        data[plan.name] = value;
      }
    }
    let unknown: string[] | undefined;
    let replaced: string[] | undefined;
    for (const key of Object.keys(body)) {
      if (!known.has(key)) {
        if (!arbitraryData) (unknown ??= []).push(key);
      } else if (own(captures, key) !== undefined) (replaced ??= []).push(key);
    }
    return { data, supplied, unknown: unknown?.sort() ?? nothing, replaced: replaced?.sort() ?? nothing };
  };
}

function sent(body: Readonly<Record<string, unknown>>, plan: Plan): unknown {
  if (Object.hasOwn(body, plan.name)) return body[plan.name];
  for (const alias of plan.aliases) if (Object.hasOwn(body, alias)) return body[alias];
  return undefined;
}

function refuseNumber(field: string, at: string, number: string): never {
  const where = at === '' ? field : `${field}.${at}`;
  throw new BadRequest(`Field validation failed: field "${where}" is ${shortened(number)}, which a 64-bit float cannot hold`);
}

function shortened(number: string): string {
  return number.length > 40 ? `${number.slice(0, 40)}…` : number;
}

function constrained(schema: TSchema): boolean {
  return 'enum' in schema || 'minimum' in schema || 'maximum' in schema;
}

function decodeField(plan: Plan, raw: unknown): unknown {
  let value: unknown;
  try {
    value = decodeValue(plan.kind, raw);
  } catch (error) {
    throw new BadRequest(`Field validation failed: error converting input for field "${plan.name}": ${(error as Error).message}`);
  }
  if (plan.folds) value = folded(value, plan.folds);
  if (value === undefined || !plan.check) return value;
  const complaint = plan.check(value);
  if (complaint !== undefined) throw new BadRequest(`Field validation failed: field "${plan.name}" ${complaint}`);
  return value;
}

function folded(value: unknown, folds: Fold): unknown {
  if (typeof value === 'string') return folds(value);
  return Array.isArray(value) ? value.map((item: unknown) => folded(item, folds)) : value;
}

/** One value by the rules of its kind. `undefined` counts as not sent. */
export function decodeValue(kind: FieldKind, sentValue: unknown): unknown {
  const raw = sentValue instanceof ExactNumber && !TEXTS.has(kind) && !OPEN.has(kind) ? sentValue.valueOf() : sentValue;
  switch (kind) {
    case 'string':
      return text(raw);
    case 'lowercase':
      return text(raw).toLowerCase();
    case 'name':
      return text(raw);
    case 'bool':
      return bool(raw);
    case 'int':
      return whole(raw);
    case 'float':
      return number(raw);
    case 'duration':
    case 'signedDuration':
      return duration(raw, kind === 'signedDuration');
    case 'time':
      return time(raw);
    case 'commaStrings':
      return list(raw, true);
    case 'strings':
      return list(raw, false);
    case 'commaInts':
      return raw === null
        ? []
        : (Array.isArray(raw)
            ? raw
            : text(raw)
                .split(',')
                .filter((item) => item.trim() !== '')
          ).map(whole);
    case 'keyValues':
      return keyValues(raw);
    case 'map':
      return map(raw);
    case 'list':
      if (raw === null) return [];
      if (!Array.isArray(raw)) throw new Error(`expected a list, got ${typeName(raw)}`);
      return raw;
    case 'any':
      return raw;
  }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function text(raw: unknown): string {
  if (typeof raw === 'string') return raw;
  if (raw === null) return '';
  if (typeof raw === 'number') return String(raw);
  if (raw instanceof ExactNumber) return raw.text;
  if (typeof raw === 'boolean') return raw ? '1' : '0';
  throw new Error(`expected a string, got ${typeName(raw)}`);
}

function bool(raw: unknown): boolean {
  if (typeof raw === 'boolean') return raw;
  if (raw === null || raw === '') return false;
  if (typeof raw === 'number') return raw !== 0;
  if (typeof raw === 'string') {
    if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(raw)) return true;
    if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(raw)) return false;
    throw new Error(`cannot parse '' as bool: strconv.ParseBool: parsing ${JSON.stringify(raw)}: invalid syntax`);
  }
  throw new Error(`expected a boolean, got ${typeName(raw)}`);
}

function number(raw: unknown): number {
  if (raw instanceof ExactNumber) return number(raw.valueOf());
  if (raw === Infinity || raw === -Infinity) throw new Error('the number is beyond what a 64-bit float holds');
  if (typeof raw === 'number') return raw;
  if (raw === null) return 0;
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  if (typeof raw === 'string') {
    const value = raw.trim() === '' ? 0 : Number(raw);
    if (Number.isFinite(value)) return value;
    throw new Error(`${JSON.stringify(raw)} is not a number`);
  }
  throw new Error(`expected a number, got ${typeName(raw)}`);
}

function whole(raw: unknown): number {
  const value = number(raw);
  if (!Number.isSafeInteger(value)) throw new Error(`${JSON.stringify(raw)} is not a whole number`);
  return value;
}

function duration(raw: unknown, signed: boolean): number | undefined {
  if (raw === null) return undefined;
  if (typeof raw !== 'number' && typeof raw !== 'string') throw new Error(`expected a duration such as "1h" or 3600, got ${typeName(raw)}`);
  const seconds = Math.trunc(parseDuration(raw));
  if (!Number.isSafeInteger(seconds)) throw new Error(`'${raw}' is not a duration`);
  if (!signed && seconds < 0) throw new Error(`cannot provide negative value '${raw}'`);
  return seconds;
}

function time(raw: unknown): Date | undefined {
  if (raw === null || raw === '') return undefined;
  if (typeof raw === 'number' || (typeof raw === 'string' && /^-?\d+$/.test(raw))) {
    const date = new Date(Number(raw) * 1000);
    if (!Number.isNaN(date.getTime())) return date;
  } else if (typeof raw === 'string') {
    const date = parseTimestamp(raw);
    if (date) return date;
  }
  throw new Error(`expected a time as RFC 3339 text or seconds since 1970`);
}

function list(raw: unknown, split: boolean): string[] {
  if (raw === null || raw === '') return [];
  if (Array.isArray(raw)) {
    const items = raw.map(text);
    return split ? items.map((item) => item.trim()).filter((item) => item !== '') : items;
  }
  const one = text(raw);
  return split
    ? one
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    : [one];
}

function map(raw: unknown): Record<string, unknown> {
  if (raw === null) return {};
  if (typeof raw === 'object' && !Array.isArray(raw)) return raw as Record<string, unknown>;
  throw new Error(`expected an object, got ${typeName(raw)}`);
}

function keyValues(raw: unknown): Record<string, string> {
  if (raw === null || raw === '') return {};
  let source: unknown = raw;
  if (typeof source === 'string') {
    const trimmed = source.trim();
    if (trimmed.startsWith('{')) source = JSON.parse(trimmed) as unknown;
    else source = [source];
  }
  const result: Record<string, string> = {};
  if (Array.isArray(source)) {
    for (const item of source) {
      const pair = text(item);
      const at = pair.indexOf('=');
      if (at < 0) throw new Error(`invalid key pair ${JSON.stringify(pair)}`);
      define(result, pair.slice(0, at), pair.slice(at + 1));
    }
    return result;
  }
  if (typeof source !== 'object' || source === null) throw new Error(`expected an object, got ${typeName(source)}`);
  for (const [key, value] of Object.entries(source as Record<string, unknown>)) define(result, key, text(value));
  return result;
}

/** Sets an own property, whatever the key: `__proto__` is a key like any other. */
function define(target: Record<string, string>, key: string, value: string): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
