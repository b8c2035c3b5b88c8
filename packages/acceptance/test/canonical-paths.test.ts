import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Core, CoreRequest } from '@strongroom/core';
import { fieldSpec, type AnyPath, type EngineRequest } from '@strongroom/engine-sdk';
import { defaultConfiguration, startServer, type RunningServer } from '@strongroom/server';
import fc from 'fast-check';
import { requestPath } from '../../http/src/request-path.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 20_000);
const ROOT = 'root';
/** Written as they are kept: what folds, folds into these. The last ones are for paths that declare something at a fixed place. */
const NAMES = ['guard', 'team-a', 'x1', 'b.c_d', 'é', 'straße', 'aws-sm', 'gh', 'config', 'acl'];
const EVERY = '["create","read","update","patch","delete","list","sudo"]';
const METHODS = ['read', 'list', 'update', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

interface Place {
  readonly prefix: string;
  readonly path: AnyPath;
  readonly operation: Method;
}

/** What a handler was called with, in words that can be compared. */
interface Reached {
  readonly path: AnyPath;
  readonly operation: Method;
  readonly fields: string;
}

/**
 * The law: policies see the one canonical form of a path. Whatever variant leads to a handler with the fields that the canonical path gives, the
 * decision is the canonical path's.
 */
describe('any variant of any declared path of any engine', () => {
  let server: RunningServer;
  let core: Core;
  let places: Place[];
  let reached: Reached | undefined;
  const tokens = new Map<string, Promise<{ denied: string; allowed: string }>>();

  beforeAll(async () => {
    server = await startServer({
      configuration: { ...defaultConfiguration({}), storage: { type: 'inmem' }, listeners: [], logLevel: 'error' },
      devRootToken: ROOT,
    });
    core = server.core;
    const { data } = await root('read', 'sys/plugins/catalog');
    const { auth, secret } = data as { auth: string[]; secret: string[] };
    for (const type of auth) await root('update', `sys/auth/${type}`, { type });
    const ofServer = core.declaredPaths().map(({ prefix }) => prefix);
    for (const type of secret.filter((one) => !ofServer.includes(`sys/${one}/`)))
      await root('update', `sys/mounts/${type}-at/deep`, { type, options: {} });
    await root('update', 'sys/mounts/kv-two', { type: 'kv', options: { version: '2' } });
    const declared = core.declaredPaths();
    // Tokens and policies are made by calls too: they come before the handlers are replaced.
    places = declared.flatMap(({ prefix, paths }) =>
      paths.flatMap((path) =>
        METHODS.filter((operation) => path.operations[operation] && asksPolicies(prefix, path)).map((operation) => ({
          prefix,
          path,
          operation,
        })),
      ),
    );
  });
  afterAll(async () => server.stop());

  async function root(operation: CoreRequest['operation'], path: string, data: Record<string, unknown> = {}) {
    const answer = await core.handle({ operation, path, token: ROOT, data });
    expect([path, answer.errors]).toEqual([path, undefined]);
    return answer;
  }

  /** One token that may do everything but at this path, and one that may do everything there alone. */
  function tokensFor(canonical: string): Promise<{ denied: string; allowed: string }> {
    const known = tokens.get(canonical);
    if (known) return known;
    const made = (async () => {
      const token = async (name: string, policy: string): Promise<string> => {
        await root('update', `sys/policies/acl/${name}`, { policy });
        const answer = await root('update', 'auth/token/create', { policies: [name], no_default_policy: true });
        return answer.auth!.client_token;
      };
      const quoted = JSON.stringify(canonical);
      return {
        denied: await token(`d${tokens.size}`, `path "*" { capabilities = ${EVERY} }\npath ${quoted} { capabilities = ["deny"] }`),
        allowed: await token(`a${tokens.size}`, `path ${quoted} { capabilities = ${EVERY} }`),
      };
    })();
    tokens.set(canonical, made);
    return made;
  }

  /** The call, with every handler replaced by one that only tells that it was reached. */
  async function call(operation: Method, path: string, token: string): Promise<{ status: number; reached: Reached | undefined }> {
    reached = undefined;
    const { status } = await core.handle({ operation, path, token });
    return { status, reached };
  }

  function replaceHandlers(): () => void {
    const before: (() => void)[] = [];
    for (const path of new Set(places.map((place) => place.path))) {
      const operations = path.operations as Record<string, unknown>;
      const { exists } = path.operations;
      if (exists) {
        operations['exists'] = async () => true;
        before.push(() => (operations['exists'] = exists));
      }
      for (const operation of METHODS) {
        const op = path.operations[operation] as { handle: unknown } | undefined;
        if (!op) continue;
        const { handle } = op;
        before.push(() => (op.handle = handle));
        op.handle = async (req: EngineRequest) => {
          const fields = Object.entries(req.data).map(([name, value]) => [name, value]);
          reached = { path, operation, fields: JSON.stringify(fields) };
          return { data: {} };
        };
      }
    }
    return () => before.forEach((restore) => restore());
  }

  test(`is judged as its canonical path (${RUNS} cases)`, async () => {
    let written = 0;
    let judged = 0;
    const cases = fc.record({
      place: fc.nat(),
      names: fc.array(fc.constantFrom(...NAMES), { minLength: 4, maxLength: 4 }),
      variant: fc.array(fc.tuple(fc.constantFrom(...VARIANTS), fc.nat()), { minLength: 1, maxLength: 3 }),
    });
    // The policies and tokens of all cases first, since their handlers are among those that are replaced.
    const drawn = fc.sample(cases, { numRuns: RUNS, seed: Number(process.env['PROPERTY_SEED'] ?? 20_261_122) });
    const prepared = [];
    for (const one of drawn) {
      const place = places[one.place % places.length]!;
      const canonical = filled(place, one.names);
      prepared.push({ place, canonical, variant: one.variant, tokens: await tokensFor(canonical) });
    }
    const restore = replaceHandlers();
    try {
      for (const { place, canonical, variant, tokens: who } of prepared) {
        const { operation } = place;
        const plain = await call(operation, canonical, ROOT);
        if (!plain.reached) continue;
        const raw = variant.reduce((text, [spell, at]) => spell(text, at), canonical);
        const path = decodedPath(raw);
        if (path === undefined) continue;
        written += 1;
        const shown = `${operation} ${JSON.stringify(raw)} for ${canonical}`;
        expect([canonical, (await call(operation, canonical, who.allowed)).status]).toEqual([canonical, 200]);
        expect([canonical, (await call(operation, canonical, who.denied)).status]).toEqual([canonical, 403]);
        const asRoot = await call(operation, path, ROOT);
        expect([shown, asRoot.status < 500]).toEqual([shown, true]);
        if (!same(asRoot.reached, plain.reached)) continue;
        judged += 1;
        const denied = await call(operation, path, who.denied);
        expect([shown, denied.status, denied.reached]).toEqual([shown, 403, undefined]);
        const allowed = await call(operation, path, who.allowed);
        expect([shown, allowed.status]).toEqual([shown, 200]);
      }
    } finally {
      restore();
    }
    // A generator whose variants lead nowhere proves nothing.
    expect(written).toBeGreaterThan(RUNS / 2);
    expect(judged).toBeGreaterThan(RUNS / 8);
  }, 600_000);

  /** A path of the declaration whose names are in their canonical form. */
  function filled({ prefix, path, operation }: Place, names: readonly string[]): string {
    let at = 0;
    const fields = path.about.fields as Record<string, never>;
    const below = path.pattern.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, kind: string | undefined) => {
      const drawn = names[at++ % names.length]!;
      const plain = kind === undefined || kind === 'at' ? drawn.replace(/[^\w.-]/g, 'z') : drawn;
      const folds = fieldSpec(fields[name]!).folds;
      const all = kind === 'all' ? `${plain}/${names[at % names.length]!}` : plain;
      return folds ? folds(all) : all;
    });
    const canonical = below === '' ? prefix.slice(0, -1) : prefix + below;
    return operation === 'list' ? `${canonical}/` : canonical;
  }

  function same(a: Reached | undefined, b: Reached): boolean {
    return a !== undefined && a.path === b.path && a.operation === b.operation && a.fields === b.fields;
  }
});

/** Logins and the like ask for no token, and who holds a wrapping token may unwrap it. */
function asksPolicies(prefix: string, { pattern, about }: AnyPath): boolean {
  return !about.login && about.access !== 'unauthenticated' && prefix + pattern !== 'sys/wrapping/unwrap';
}

/** As the HTTP adapter reads it; undefined where it answers without asking the core. */
function decodedPath(raw: string): string | undefined {
  try {
    return requestPath('/v1', encodeNonAscii(raw)).path;
  } catch {
    return undefined;
  }
}

function encodeNonAscii(raw: string): string {
  return raw.replace(/[^!-~]/gu, (char) => encodeURIComponent(char));
}

type Variant = (path: string, at: number) => string;

const at = (path: string, position: number, change: (char: string) => string): string => {
  const chars = [...path];
  const index = position % chars.length;
  chars[index] = change(chars[index]!);
  return chars.join('');
};
const atSlash = (path: string, position: number, text: string): string => {
  const parts = path.split('/');
  const index = position % parts.length;
  return `${parts.slice(0, index).join('/')}${index > 0 ? text : ''}${parts.slice(index).join('/')}`;
};

/** What clients, proxies and attackers do to a path. */
const VARIANTS: readonly Variant[] = [
  (path) => `${path}/`,
  (path) => `${path}%2f`,
  (path) => `${path}%2F`,
  (path) => path.replace(/\/$/, ''),
  (path) => `/${path}`,
  (path, n) => atSlash(path, n, '//'),
  (path, n) => atSlash(path, n, '/./'),
  (path, n) => atSlash(path, n, '/x/../'),
  (path, n) => atSlash(path, n, '%2f'),
  (path) => `${path}/.`,
  (path) => `${path}%00`,
  (path) => `${path}%20`,
  (path) => `${path}\u00a0`,
  (path, n) => at(path, n, (char) => char.toUpperCase()),
  (path) => path.toUpperCase(),
  (path) => path.replace(/[^/]+\/?$/, (name) => name.toUpperCase()),
  (path) => path.replace(/[^/]+\/?$/, (name) => name[0]!.toUpperCase() + name.slice(1)),
  (path, n) => at(path, n, (char) => `%${(char.codePointAt(0)! & 0x7f).toString(16).padStart(2, '0')}`),
  (path, n) => at(path, n, (char) => (/[a-z0-9.-]/.test(char) ? `%25${char.charCodeAt(0).toString(16)}` : char)),
  (path, n) => at(path, n, (char) => (/[!-~]/.test(char) && char !== '/' ? String.fromCodePoint(char.charCodeAt(0) + 0xfee0) : char)),
  (path) => path.normalize('NFD'),
  (path) => path.normalize('NFKC'),
  (path) => path.replaceAll('ss', 'ß'),
  (path) => path.replaceAll('i', 'İ'),
  (path) => path.replaceAll('k', '\u212a'),
  (path, n) => at(path, n, (char) => `${char}\u00ad`),
];
