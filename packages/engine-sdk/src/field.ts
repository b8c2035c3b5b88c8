import type { TSchema, TUnsafe } from 'typebox';

/** How a value of the wire becomes the handler's value. The kinds and what they accept are those of Vault's and OpenBao's field types. */
export type FieldKind =
  | 'string'
  | 'lowercase'
  | 'name'
  | 'bool'
  | 'int'
  | 'float'
  | 'duration'
  | 'signedDuration'
  | 'time'
  | 'commaStrings'
  | 'strings'
  | 'commaInts'
  | 'keyValues'
  | 'map'
  | 'list'
  | 'any';

/** How the value of a field is decoded and shown. */
export interface FieldSpec {
  readonly kind: FieldKind;
  readonly required?: boolean;
  /** Masked in every read, log and error. */
  readonly secret?: boolean;
  readonly deprecated?: boolean;
  /** Older variants that are still taken; the first one sent wins. */
  readonly aliases?: readonly string[];
  /** See FieldOptions. */
  readonly folds?: Fold;
  readonly group?: string;
  readonly multiline?: boolean | 'json';
  readonly shape?: TSchema;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Makes the canonical form of a name from any of its variants. Pure, total and idempotent. */
export type Fold = (value: string) => string;

/** The schema of a field, with what it means to requests. */
export type Field<T> = TUnsafe<T> & { readonly 'x-field': FieldSpec };

/** What a field may declare beside its description. */
export interface FieldOptions<T> {
  /** What the handler sees when the caller sends nothing. */
  readonly default?: T;
  /** Leaving it out of a write is a 400 that names the field. */
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly aliases?: readonly string[];
  /**
   * Text that has several variants for one thing: gives the canonical one, before anything else sees the value. For a capture of the path, the
   * canonical path follows from it, so policies, audit and leases know the thing by one name. `f.lowercase` folds by itself.
   */
  readonly folds?: Fold;
  /** The values allowed; anything else is a 400 that lists them. */
  readonly values?: readonly T[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** A few words above the field in a form. Default: its name in words. */
  readonly title?: string;
  /** Fields of one group stand together in a form, folded. Without it a field is among the first that one sees. */
  readonly group?: string;
  /** Text of several lines, such as a PEM certificate; `json` for a document in JSON. */
  readonly multiline?: boolean | 'json';
  /** Of a `map` or `list`: what it holds, for forms and documents. It is not checked. */
  readonly shape?: TSchema;
}

type Supplied<T, O> = O extends { default: unknown } | { required: true } ? Field<T> : Field<T | undefined>;

const schemas: Record<FieldKind, Record<string, unknown>> = {
  string: { type: 'string' },
  lowercase: { type: 'string' },
  name: { type: 'string' },
  bool: { type: 'boolean' },
  int: { type: 'integer' },
  float: { type: 'number' },
  duration: { type: 'number' },
  signedDuration: { type: 'number' },
  time: {},
  commaStrings: { type: 'array', items: { type: 'string' } },
  strings: { type: 'array', items: { type: 'string' } },
  commaInts: { type: 'array', items: { type: 'integer' } },
  keyValues: { type: 'object', additionalProperties: { type: 'string' } },
  map: { type: 'object' },
  list: { type: 'array' },
  any: {},
};

function field<T, const O extends FieldOptions<T>>(
  kind: FieldKind,
  description: string,
  options: O | undefined,
  secret = false,
): Supplied<T, O> {
  // Each mount makes hundreds of fields. Objects that are put together by spreading others are twice as large.
  const spec: Mutable<FieldSpec> = { kind };
  if (options?.required) spec.required = true;
  if (secret) spec.secret = true;
  if (options?.deprecated) spec.deprecated = true;
  if (options?.aliases) spec.aliases = options.aliases;
  const folds = options?.folds ?? (kind === 'lowercase' ? lowerCase : undefined);
  if (folds) spec.folds = folds;
  if (options?.group !== undefined) spec.group = options.group;
  if (options?.multiline) spec.multiline = options.multiline;
  if (options?.shape) spec.shape = options.shape;
  const schema: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schemas[kind])) schema[keyword] = value;
  schema['description'] = description;
  if (options?.title !== undefined) schema['title'] = options.title;
  schema['x-field'] = spec;
  if (options?.default !== undefined) schema['default'] = options.default;
  if (options?.values !== undefined) schema['enum'] = options.values;
  if (options?.minimum !== undefined) schema['minimum'] = options.minimum;
  if (options?.maximum !== undefined) schema['maximum'] = options.maximum;
  // A copy by Type.Unsafe would add a mark that nothing here reads.
  return schema as unknown as Supplied<T, O>;
}

function lowerCase(value: string): string {
  return value.toLowerCase();
}

type Make<T> = <const O extends FieldOptions<T> = Record<never, never>>(description: string, options?: O) => Supplied<T, O>;
const make =
  <T>(kind: FieldKind, secret = false): Make<T> =>
  (description, options) =>
    field(kind, description, options, secret);

/**
 * The field builders. A field without `default` or `required` is `undefined` to the handler when the caller sent nothing;
 * `req.supplied` tells what was sent. A wrong type is a 400 that names the field.
 */
export const f = {
  /** Text; numbers and booleans become text. */
  string: make<string>('string'),
  /** Text, lower-cased. */
  lowercase: make<string>('lowercase'),
  /** A capture of the path: always there. */
  name: (description: string, options?: { readonly folds?: Fold }): Field<string> =>
    field<string, { required: true }>('name', description, { required: true, ...options }),
  /** `true`, `"true"`, `"1"`, `1` and their opposites. */
  bool: make<boolean>('bool'),
  /** A whole number, or text that holds one. */
  int: make<number>('int'),
  float: make<number>('float'),
  /** `"1h30m"`, `"7d"`, `3600` or `"3600"`; the handler sees seconds. Negative is a 400. */
  duration: make<number>('duration'),
  signedDuration: make<number>('signedDuration'),
  /** RFC 3339 text or seconds since the epoch; the handler sees a Date. */
  time: make<Date>('time'),
  /** `["a","b"]` or `"a,b"`; trimmed, empty items dropped. */
  commaStrings: make<string[]>('commaStrings'),
  /** A list, or one text that becomes a list of one. */
  strings: make<string[]>('strings'),
  /** Statements of a database or directory: a list, or one text. */
  statements: <const O extends FieldOptions<string[]> = Record<never, never>>(description: string, options?: O) =>
    make<string[]>('strings')(description, { multiline: true, ...options } as O),
  commaInts: make<number[]>('commaInts'),
  /** An object of texts, a list of `key=value`, or such an object as JSON text. */
  keyValues: make<Record<string, string>>('keyValues'),
  /** Any object. */
  map: make<Record<string, unknown>>('map'),
  /** Any list. */
  list: make<unknown[]>('list'),
  any: make<unknown>('any'),
  /** Text that is masked in every read, log and error. */
  secret: make<string>('string', true),
} as const;

/** To spread into the fields of a path whose operation is `oncePerKey`. */
export const idempotencyFields = {
  idempotency_key: f.string(
    'A text of your choice. A call that is repeated with it, by the same token or entity, gets the same credential and lease while the lease lives. ' +
      'The header Idempotency-Key means the same.',
  ),
} as const;

/** What a field declared; of a plain schema, a field of any value. */
export function fieldSpec(schema: TSchema): FieldSpec {
  return ((schema as { 'x-field'?: FieldSpec })['x-field'] ?? { kind: 'any' }) as FieldSpec;
}
