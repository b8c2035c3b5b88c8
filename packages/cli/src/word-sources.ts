import type { ApiClient } from './client.ts';
import { isRecord, type JsonRecord } from './json.ts';

/** What a positional word names, and so where its completions come from. */
export type WordSource = 'path' | 'key' | 'mount' | 'login' | 'audit' | 'policy' | 'destination' | 'shell';

/** The sources of words that are named so in `args` of a command; a command may declare others. */
export const SOURCES: Readonly<Record<string, WordSource>> = {
  PATH: 'path',
  KEY: 'key',
  MOUNT: 'mount',
  SHELL: 'shell',
  'TYPE/NAME': 'destination',
};

/** Prefixes of version 2 of key-value, whose names are those of `metadata/`. */
const VERSIONED = ['data/', 'metadata/', 'delete/', 'undelete/', 'destroy/', 'subkeys/'];

/** What may stand in the place of an unfinished word. Whatever the server refuses to show is left out. `below`: the mount that -mount names. */
export async function wordsFor(source: WordSource, typed: string, client: ApiClient, below: string | undefined): Promise<string[]> {
  switch (source) {
    case 'shell':
      return ['bash', 'zsh', 'fish'];
    case 'policy':
      return names(client, 'sys/policies/acl');
    case 'audit':
      return Object.keys((await dataOf(client, 'sys/audit')) ?? {});
    case 'destination':
      return destinations(client);
    case 'mount':
      return [...(await mountsOf(client)).keys()].filter((mount) => !mount.startsWith('auth/'));
    case 'login':
      return [...(await mountsOf(client)).keys()].filter((mount) => mount.startsWith('auth/')).map((mount) => mount.slice('auth/'.length));
    case 'key':
      return keys(client, typed, below);
    case 'path':
      return paths(client, typed);
  }
}

async function paths(client: ApiClient, typed: string): Promise<string[]> {
  const mounts = await mountsOf(client);
  const mount = [...mounts.keys()].filter((one) => typed.startsWith(one)).sort((a, b) => b.length - a.length)[0];
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  if (mount === undefined) return [...mounts.keys()];
  const below = mounts.get(mount)!.versioned ? VERSIONED.find((prefix) => typed.startsWith(mount + prefix)) : undefined;
  if (below !== undefined)
    return (await names(client, `${mount}metadata/${folder.slice((mount + below).length)}`)).map((name) => folder + name);
  if (mounts.get(mount)!.versioned) return [...VERSIONED, 'config'].map((name) => mount + name);
  return (await names(client, folder)).map((name) => folder + name);
}

async function keys(client: ApiClient, typed: string, below: string | undefined): Promise<string[]> {
  const mounts = await mountsOf(client);
  const lead = below === undefined ? '' : `${below.replace(/^\/+|\/+$/g, '')}/`;
  const whole = lead + typed;
  const mount = [...mounts].find(([name, { kv }]) => kv && whole.startsWith(name))?.[0];
  if (mount === undefined) return lead === '' ? [...mounts].filter(([, { kv }]) => kv).map(([name]) => name) : [];
  const folder = whole.slice(0, whole.lastIndexOf('/') + 1);
  const found = await names(client, mounts.get(mount)!.versioned ? `${mount}metadata/${folder.slice(mount.length)}` : folder);
  return found.map((name) => (folder + name).slice(lead.length));
}

async function destinations(client: ApiClient): Promise<string[]> {
  const byType = (await dataOf(client, 'sys/sync/destinations', true))?.['key_info'];
  if (!isRecord(byType)) return [];
  return Object.entries(byType).flatMap(([type, found]) => (Array.isArray(found) ? found.map((name) => `${type}${String(name)}`) : []));
}

interface MountSeen {
  readonly kv: boolean;
  readonly versioned: boolean;
}

/** The mounts that the caller may see, those of login methods below `auth/`. */
async function mountsOf(client: ApiClient): Promise<Map<string, MountSeen>> {
  const data = (await dataOf(client, 'sys/internal/ui/mounts')) ?? {};
  const found = new Map<string, MountSeen>();
  for (const [group, lead] of [
    ['secret', ''],
    ['auth', 'auth/'],
  ] as const) {
    const mounts = data[group];
    if (!isRecord(mounts)) continue;
    for (const [path, raw] of Object.entries(mounts)) {
      const { type, options } = isRecord(raw) ? raw : {};
      found.set(lead + path, { kv: type === 'kv', versioned: type === 'kv' && isRecord(options) && String(options['version']) === '2' });
    }
  }
  return found;
}

async function names(client: ApiClient, path: string): Promise<string[]> {
  const keys = (await dataOf(client, path, true))?.['keys'];
  return Array.isArray(keys) ? keys.map(String) : [];
}

async function dataOf(client: ApiClient, path: string, list = false): Promise<JsonRecord | undefined> {
  try {
    return (await client.secret('GET', path, { unwrapped: true, ...(list ? { query: { list: 'true' } } : {}) }))?.data;
  } catch {
    return undefined;
  }
}
