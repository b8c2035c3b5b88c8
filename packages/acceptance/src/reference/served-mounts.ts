import type { Core, CoreResponse } from '@strongroom/core';
import type { AnyPath } from '@strongroom/engine-sdk';
import { defaultConfiguration, startServer } from '@strongroom/server';

/** One page's worth: what a server declares at one mount. */
export interface ServedMount {
  /** File name without its ending. */
  readonly page: string;
  readonly title: string;
  /** The path on the page, with a closing slash. */
  readonly prefix: string;
  /** False for what every server has at a fixed place. */
  readonly movable: boolean;
  readonly paths: readonly AnyPath[];
}

const ROOT = 'reference';
const BUILT_IN: Readonly<Record<string, { page: string; title: string }>> = {
  'sys/': { page: 'system', title: 'The system: `sys/`' },
  'auth/token/': { page: 'auth-token', title: 'Tokens: `auth/token/`' },
  'identity/': { page: 'identity', title: 'Identity: `identity/`' },
  'cubbyhole/': { page: 'cubbyhole', title: "A token's own cupboard: `cubbyhole/`" },
};

/** What is declared at the mounts of a server that has one of everything it offers. */
export const servedMounts = (): Promise<ServedMount[]> => withServer(mountsOf);

/** The OpenAPI document of such a server, as JSON. */
export const servedDocument = (): Promise<string> =>
  withServer(async (core) => {
    await mountsOf(core);
    const { raw } = await asked(core, 'read', 'sys/internal/specs/openapi');
    return String(raw!.body);
  });

/** Starts a server in memory without listeners, and stops it after the work. */
async function withServer<T>(work: (core: Core) => Promise<T>): Promise<T> {
  const server = await startServer({
    configuration: { ...defaultConfiguration({}), storage: { type: 'inmem' }, listeners: [], logLevel: 'error' },
    devRootToken: ROOT,
  });
  try {
    return await work(server.core);
  } finally {
    await server.stop();
  }
}

async function mountsOf(core: Core): Promise<ServedMount[]> {
  const { data } = await asked(core, 'read', 'sys/plugins/catalog');
  const { auth, secret } = data as { auth: string[]; secret: string[] };
  const fixed = [...Object.entries(BUILT_IN), ...core.declaredPaths().flatMap(({ prefix }) => ofSystem(prefix))];
  const wanted: (Omit<ServedMount, 'paths'> & { at: string })[] = fixed.map(([prefix, names]) => ({
    ...names,
    prefix,
    movable: false,
    at: prefix,
  }));
  for (const type of auth) {
    await asked(core, 'update', `sys/auth/${type}`, { type });
    const at = `auth/${type}/`;
    wanted.push({ page: `auth-${type}`, title: `Login method \`${type}\``, prefix: at, movable: true, at });
  }
  const places = new Set(fixed.map(([, { page }]) => page));
  for (const type of secret) {
    if (places.has(type)) continue;
    for (const { suffix, title, options } of variantsOf(type)) {
      await asked(core, 'update', `sys/mounts/${type}${suffix}`, { type, options });
      wanted.push({ page: type + suffix, title, prefix: `${type}/`, movable: true, at: `${type}${suffix}/` });
    }
  }
  const declared = new Map(core.declaredPaths().map(({ prefix, paths }) => [prefix, paths]));
  return wanted.map(({ at, ...mount }) => {
    const paths = declared.get(at);
    if (!paths || paths.length === 0) throw new Error(`nothing is declared at ${at}`);
    return { ...mount, paths };
  });
}

/** What the server mounts below `sys/` for an engine that has its place there. */
function ofSystem(prefix: string): [string, { page: string; title: string }][] {
  const [, type] = /^sys\/([^/]+)\/$/.exec(prefix) ?? [];
  return type === undefined ? [] : [[prefix, { page: type, title: `Secrets engine \`${type}\`: \`${prefix}\`` }]];
}

/** Key-value declares other paths with another version. */
function variantsOf(type: string): { suffix: string; title: string; options: Record<string, string> }[] {
  if (type !== 'kv') return [{ suffix: '', title: `Secrets engine \`${type}\``, options: {} }];
  return ['1', '2'].map((version) => ({
    suffix: `-v${version}`,
    title: `Secrets engine \`kv\`, version ${version}`,
    options: { version },
  }));
}

async function asked(core: Core, operation: 'read' | 'update', path: string, data?: Record<string, unknown>): Promise<CoreResponse> {
  const response = await core.handle({ operation, path, token: ROOT, ...(data ? { data } : {}) });
  if (response.errors) throw new Error(`${path}: ${response.errors.join('; ')}`);
  return response;
}
