import { fieldSpec, type AnyPath, type FieldKind } from '@strongroom/engine-sdk';
import type { RequestOperation } from '@strongroom/core';

export interface ContractCall {
  readonly operation: RequestOperation;
  readonly path: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Names that a mount in use knows, by capture: so that garbage also meets what exists. */
export type KnownNames = Readonly<Record<string, readonly string[]>>;

const CAPTURE = /\{(\w+)(?::(\w+))?\}/g;
/** One segment each; what HTTP can carry after decoding. */
const SEGMENTS = [
  'a',
  'x'.repeat(200),
  'a.b-c_d',
  'é',
  '日本',
  'a b',
  'a%2fb',
  "a'; DROP TABLE x; --",
  'a"b\\c',
  '${x}{{y}}',
  '__proto__',
  'constructor',
  '*',
  '+',
  '.',
];
const VALUES: readonly unknown[] = [
  null,
  '',
  'text',
  ' ',
  'a,b,,c',
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  true,
  false,
  [],
  {},
  [null],
  [[1]],
  [1, 'a', {}],
  { a: { b: [1] } },
  { ['__proto__']: 1, constructor: 2 },
  '9999999999999h',
  '-1h',
  '{{',
  '{"a":',
  'é日本\u{1F600}',
  '\ud800',
  "'; DROP TABLE x; --",
  'x'.repeat(5_000),
];

/** Values that a kind cannot take, whatever the engine makes of it. */
const WRONG: Partial<Record<FieldKind, unknown>> = {
  string: { a: 1 },
  lowercase: [1],
  bool: 'perhaps',
  int: 'many',
  float: {},
  duration: 'soon',
  signedDuration: 'soon',
  time: 'yesterday',
  commaStrings: { a: 1 },
  strings: { a: 1 },
  commaInts: 'a,b',
  keyValues: 5,
  map: 'text',
  list: 'text',
};

/** The path with an ordinary name in each capture. */
export function callsOf(path: AnyPath, name = 'example'): { path: string } {
  return { path: path.pattern.replace(CAPTURE, name) };
}

/** Calls with a random value in each field, the same in every run. */
export function garbageCalls(path: AnyPath, known: KnownNames): ContractCall[] {
  const random = seeded(path.pattern);
  const calls: ContractCall[] = [];
  const fields = Object.keys(path.about.fields as object);
  for (const operation of ['read', 'list', 'scan', 'update', 'patch', 'delete'] as const) {
    if (!path.operations[operation]) continue;
    const bodies: Record<string, unknown>[] = [{}];
    for (const value of VALUES) bodies.push(Object.fromEntries(fields.map((field) => [field, value])));
    for (let i = 0; i < 2 * VALUES.length; i += 1) {
      bodies.push(
        Object.fromEntries(fields.filter(() => random() < 0.6).map((field) => [field, VALUES[Math.floor(random() * VALUES.length)]])),
      );
    }
    for (const data of bodies) calls.push({ operation, path: fill(path.pattern, known, random), data });
    for (const segment of SEGMENTS) calls.push({ operation, path: path.pattern.replace(CAPTURE, () => segment), data: {} });
  }
  return calls.filter((call) => !call.path.includes('//') && call.path !== '');
}

/** One call for each field whose kind has values that cannot be taken. */
export function wrongTypeCalls(path: AnyPath, known: KnownNames): (ContractCall & { readonly field: string })[] {
  const captures = new Set([...path.pattern.matchAll(CAPTURE)].map(([, name]) => name));
  const operation = path.operations.update ? 'update' : path.operations.patch ? 'patch' : undefined;
  if (!operation) return [];
  return Object.entries(path.about.fields as Record<string, never>).flatMap(([field, schema]) => {
    const wrong = WRONG[fieldSpec(schema).kind];
    if (wrong === undefined || captures.has(field)) return [];
    return [{ operation, path: fill(path.pattern, known, () => 0), data: { [field]: wrong }, field } as const];
  });
}

function fill(pattern: string, known: KnownNames, random: () => number): string {
  return pattern.replace(CAPTURE, (_, name: string) => {
    const names = known[name] ?? [];
    if (names.length > 0 && random() < 0.7) return names[Math.floor(random() * names.length)]!;
    return random() < 0.7 ? 'example' : SEGMENTS[Math.floor(random() * SEGMENTS.length)]!;
  });
}

/** Mulberry32, seeded with a text. */
function seeded(text: string): () => number {
  let state = 0;
  for (const character of text) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
