import type { UseQueryResult } from '@tanstack/react-query';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import type { Answer } from '../../api/send.ts';

/** A mount that keeps secrets by path: key-value of either version, or the token's cubbyhole. */
export interface KvMount {
  /** Without its closing slash. */
  readonly path: string;
  readonly version: 1 | 2;
  readonly description: string;
}

interface Mounts {
  readonly secret: Readonly<
    Record<string, { readonly type: string; readonly description: string; readonly options: Readonly<Record<string, string>> | null }>
  >;
}

/** All mounts that the token reaches. */
export function useMounts(): UseQueryResult<Answer<Mounts>> {
  return useRead<Mounts>('sys/internal/ui/mounts');
}

export function kvMountsOf({ secret }: Mounts): KvMount[] {
  return Object.entries(secret)
    .filter(([, { type }]) => type === 'kv' || type === 'cubbyhole')
    .map(([path, { options, description }]) => ({
      path: path.replace(/\/$/, ''),
      version: options?.version === '2' ? 2 : 1,
      description,
    }));
}

/** Where a secret is read and written, as people write it: `secret/data/shop/database`. */
export function dataPath({ path, version }: KvMount, secret: string): string {
  return version === 2 ? `${path}/data/${secret}` : `${path}/${secret}`;
}

/** Where a folder is listed, and what is known of a secret is kept. */
export function metadataPath({ path, version }: KvMount, name: string): string {
  return version === 2 ? `${path}/metadata/${name}` : `${path}/${name}`;
}

/** A path of version 2 that does something to versions: `delete`, `undelete`, `destroy`. */
export function versionsPath({ path }: KvMount, what: 'delete' | 'undelete' | 'destroy', secret: string): string {
  return apiPath(path, what, secret);
}

/** The folder of a secret or folder: '' or with a closing slash. */
export function folderOf(name: string): string {
  return name.slice(0, name.replace(/\/$/, '').lastIndexOf('/') + 1);
}

/** The last part of a name. That of a folder ends in a slash. */
export function lastOf(name: string): string {
  return name.slice(folderOf(name).length);
}
