import type { ApiClient } from './client.ts';
import { flag } from './flag.ts';
import { ApiFailure, Failure } from './failure.ts';
import { isRecord } from './json.ts';

export const mountFlag = flag.text('Mount of the engine, so that KEY is only the name within it.', { placeholder: 'path' });

const trim = (path: string): string => path.trim().replace(/^\/+|\/+$/g, '');
const join = (...parts: readonly string[]): string =>
  parts
    .map(trim)
    .filter((part) => part !== '')
    .join('/');

/** A key, taken apart at its mount. */
export interface KvPath {
  readonly version: 1 | 2;
  /** The API path of the key under one of version 2's prefixes; version 1 has no prefixes. */
  at(prefix: string): string;
}

/** Asks which mount owns a path. Servers and tokens that cannot say are treated as version 1. */
async function mountOf(client: ApiClient, path: string): Promise<{ mount: string; version: 1 | 2 }> {
  try {
    const secret = await client.secret('GET', `sys/internal/ui/mounts/${path}`, { preflight: true });
    const { path: mount, options } = secret?.data ?? {};
    return { mount: trim(String(mount ?? '')), version: isRecord(options) && String(options['version']) === '2' ? 2 : 1 };
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return { mount: '', version: 1 };
    throw error;
  }
}

/** Finds the mount and version behind a key, given whole (`secret/app`) or with `-mount=secret`. */
export async function resolveKv(client: ApiClient, key: string, mountName: string | undefined): Promise<KvPath> {
  const whole = join(mountName ?? '', key);
  const found = await mountOf(client, mountName === undefined ? whole : trim(mountName));
  const mount = mountName === undefined ? found.mount : trim(mountName);
  const rest = whole === mount ? '' : whole.startsWith(`${mount}/`) ? whole.slice(mount.length + 1) : whole;
  return { version: found.version, at: (prefix) => (found.version === 1 ? whole : join(mount, prefix, rest)) };
}

/** As `resolveKv`, for commands that only version 2 has. */
export async function resolveKv2(client: ApiClient, key: string, mountName: string | undefined, what: string): Promise<KvPath> {
  const path = await resolveKv(client, key, mountName);
  if (path.version !== 2) throw new Failure(`${what} is not supported by version 1 of the key-value engine`);
  return path;
}

/** Version numbers given as repeated flags, comma lists, or both. */
export function versionList(texts: readonly string[]): number[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => {
      if (!/^\s*\d+\s*$/.test(text)) throw new Failure(`Invalid version "${text}" for flag -versions: expected whole numbers`);
      return Number(text);
    });
}
