import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { fieldSpec, type AnyPath, type FieldKind, type Log } from '@strongroom/engine-sdk';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import fc from 'fast-check';
import type { Core, CoreRequest, CoreResponse } from '../../src/index.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 4_000);
const OPERATIONS: readonly CoreRequest['operation'][] = ['create', 'read', 'update', 'patch', 'delete', 'list', 'help', 'header'];
/** The caller says which status the answer has. */
const CHOSEN_BY_CALLER = 'sys/health';
const POLICY = 'path "x" { capabilities = ["read"] }';
const PASSWORD_POLICY = 'length = 20\nrule "charset" { charset = "abc" }';
const WRONG: Readonly<Record<FieldKind, unknown>> = {
  string: { a: 1 },
  lowercase: [1],
  name: { a: 1 },
  bool: 'perhaps',
  int: 'many',
  float: [2],
  duration: 'soon',
  signedDuration: 'soon',
  time: 'tomorrow',
  commaStrings: { a: 1 },
  strings: { a: 1 },
  commaInts: ['x'],
  keyValues: ['no equals sign'],
  map: 5,
  list: 'x',
  any: undefined,
};

interface Declared {
  readonly prefix: string;
  readonly path: AnyPath;
}

describe('any request at any declared path', () => {
  let core: Core;
  let powerless: string;
  let declared: Declared[];
  /** Accessors and ids of what there is. */
  let known: string[];
  const faults: string[] = [];
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, fields) => faults.push(`${message} ${JSON.stringify(fields)}`),
  };

  const start = async (): Promise<void> => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine], devRootToken: 'root', log });
    const made = await core.handle({
      operation: 'update',
      path: 'auth/token/create',
      token: 'root',
      data: { policies: ['none'], no_default_policy: true },
    });
    powerless = made.auth!.client_token;
    const ask = async (path: string, data: Record<string, unknown>): Promise<CoreResponse> =>
      core.handle({ operation: 'update', path, token: 'root', data });
    const entity = await ask('identity/entity', { name: 'x1' });
    const group = await ask('identity/group', { name: 'x1', type: 'external' });
    await ask('auth/token/roles/x1', { allowed_policies: ['default'] });
    await ask('sys/policies/acl/x1', { policy: POLICY });
    await ask('cubbyhole/x1', { a: 1 });
    const auth = (await core.handle({ operation: 'read', path: 'sys/auth', token: 'root' })).data as Record<string, { accessor: string }>;
    known = [
      made.auth!.accessor,
      auth['token/']!.accessor,
      ...[entity, group].map((answer) => (answer.data as { id: string }).id),
      'identity',
      'sys',
      'token',
    ];
    declared = core.declaredPaths().flatMap(({ prefix, paths }) => paths.map((path) => ({ prefix, path })));
  };
  beforeAll(start);
  afterAll(async () => core.close());

  const restartIfEnded = async (): Promise<void> => {
    if ((await core.handle({ operation: 'read', path: 'auth/token/lookup-self', token: 'root' })).status === 200) return;
    await core.close();
    await start();
  };

  test('gets an answer that does not blame the server', async () => {
    await fc.assert(
      fc.asyncProperty(requests(declared, known), async (request) => {
        faults.length = 0;
        const token = request.token === 'powerless' ? powerless : request.token;
        const answer = await core.handle(token === undefined ? without(request) : { ...request, token });
        if (request.path !== CHOSEN_BY_CALLER)
          expect([answer.status >= 200 && answer.status < 500, answer.errors]).toEqual([true, answer.errors]);
        expect(faults).toEqual([]);
        if (answer.errors) expect(answer.errors.join()).not.toMatch(/undefined|\[object|TypeError|Cannot read/);
        await restartIfEnded();
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  test('names the field that has the wrong type', async () => {
    const silent: string[] = [];
    for (const { prefix, path } of declared) {
      const captures = new Set([...path.pattern.matchAll(/\{(\w+)/g)].map((match) => match[1]!));
      const at = prefix + path.pattern.replace(/\{\w+(?::\w+)?\}/g, 'x1');
      for (const operation of ['read', 'update', 'patch', 'delete', 'list'] as const) {
        if (!path.operations[operation]) continue;
        for (const [name, schema] of Object.entries(path.about.fields as Record<string, never>)) {
          const wrong = WRONG[fieldSpec(schema).kind];
          if (captures.has(name) || wrong === undefined) continue;
          const data = { ...required(path), [name]: wrong };
          const answer: CoreResponse = await core.handle({ operation, path: at, token: 'root', data });
          if (answer.status !== 400 || !answer.errors!.join().includes(name))
            silent.push(`${operation} ${at} ${name}: ${answer.status} ${String(answer.errors)}`);
        }
      }
    }
    expect(silent).toEqual([]);
  });
});

function required(path: AnyPath): Record<string, unknown> {
  const fields = Object.entries(path.about.fields as Record<string, never>);
  return Object.fromEntries(fields.filter(([, schema]) => fieldSpec(schema).required).map(([name]) => [name, 'x1']));
}

function without(request: CoreRequest): CoreRequest {
  const { token: _none, ...rest } = request;
  return rest;
}

function requests(declared: readonly Declared[], known: readonly string[]): fc.Arbitrary<CoreRequest> {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ maxLength: 30 }),
    fc.constantFrom(
      '__proto__',
      'constructor',
      '..',
      '',
      '.',
      'x'.repeat(2_000),
      'a/b',
      'root',
      'default',
      'token',
      's.x',
      '%00',
      '\u{1F512}',
      'A@b',
      'a*',
      '+',
    ),
  );
  const odd = fc.oneof(
    text,
    fc.constantFrom<unknown>(null, true, -1, 0, 1, 1e308, -1e308, 2 ** 53, 0.5, '-5s', '99999999h', [], {}, [null], [[]]),
    fc.jsonValue({ maxDepth: 2 }),
  );
  // Ids, names and lists refer to what exists, now and then.
  const sensible: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
    string: fc.constantFrom(
      'x1',
      'y-2',
      'kv',
      'userpass',
      'internal',
      'external',
      'irrevocable',
      'root',
      'sys/mounts',
      POLICY,
      PASSWORD_POLICY,
      ...known,
    ),
    lowercase: fc.constantFrom('x1', 'Y-2'),
    name: fc.constantFrom('x1', 'y-2'),
    bool: fc.boolean(),
    int: fc.constantFrom(0, 1, 2, 3, 255, 256, -1, '4'),
    float: fc.constantFrom(0, 0.5),
    duration: fc.constantFrom('1h', 60, '0', '90000h', 2 ** 52),
    signedDuration: fc.constantFrom('1h', '-1h'),
    time: fc.constantFrom('2030-01-01T00:00:00Z', '2090-01-01T00:00:00Z', 8.64e12, 0),
    commaStrings: fc.constantFrom('x1', 'x1,y-2', ['default'], ['root'], ['sys/mounts', '__proto__'], ...known.map((one) => [one])),
    strings: fc.constantFrom('x1', ['x1', 'y-2']),
    commaInts: fc.constantFrom([1], '1,2'),
    keyValues: fc.constantFrom({ a: 'b' }, ['a=b'], { __proto__: null, version: '2' }, '{"a":"b"}'),
    map: fc.constantFrom({}, { a: 1 }, { default_lease_ttl: '1h', max_lease_ttl: 5 }, { token_type: 'batch' }, { lockout_threshold: 'x' }),
    list: fc.constantFrom([], [1]),
    any: fc.constantFrom('1h', 'system', 3600, -1, 'x'),
  };
  const token = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('root', 'root', 'root', 'powerless') },
    { weight: 1, arbitrary: fc.constantFrom(undefined, 'garbage', 's.AAAAAAAAAAAAAAAAAAAAAAAA', 'b.AAAA', 'b.', '\u0000') },
  );
  const wrapTtl = fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(60, -1, 0.5, 1e15, Number.NaN, Number.POSITIVE_INFINITY) },
  );
  const extra = fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'unknown', 'limit', 'after'), odd, {
    maxKeys: 2,
  });
  return fc.constantFrom(...declared).chain(({ prefix, path }) => {
    const captures = [...path.pattern.matchAll(/\{(\w+)(?::\w+)?\}/g)];
    const offered = OPERATIONS.filter((operation) => path.operations[operation as 'read']);
    const data = Object.fromEntries(
      Object.entries(path.about.fields as Record<string, never>).map(([name, schema]) => [
        name,
        fc.oneof({ weight: 3, arbitrary: sensible[fieldSpec(schema).kind] }, { weight: 1, arbitrary: odd }),
      ]),
    );
    return fc
      .record({
        operation: fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom(...(offered.length > 0 ? offered : OPERATIONS)) },
          { weight: 1, arbitrary: fc.constantFrom(...OPERATIONS) },
        ),
        filled: fc.tuple(
          ...captures.map(() =>
            fc.oneof({ weight: 4, arbitrary: fc.constantFrom('x1', 'x1', 'y-2', ...known) }, { weight: 1, arbitrary: text }),
          ),
        ),
        sent: fc.record(data, { requiredKeys: [] }),
        more: fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: extra }),
        slash: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constant('/') }),
        token,
        wrapTtl,
      })
      .map(({ operation, filled, sent, more, slash, token: who, wrapTtl: ttl }) => {
        let at = 0;
        const target = prefix + path.pattern.replace(/\{\w+(?::\w+)?\}/g, () => filled[at++]!) + slash;
        const body = Object.fromEntries([...Object.entries(sent), ...Object.entries(more)]);
        return { operation, path: target, data: body, ...(who === undefined ? {} : { token: who }), wrapTtl: ttl };
      });
  });
}
