import { useQuery, type QueryClient, type UseQueryResult } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { isRecord, type Json } from '../../api/exact-json.ts';
import { makeStale } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { dataPath, metadataPath, type KvMount } from './kv-mount.ts';

/** A secret, and the mount that keeps it. */
export interface SecretPart {
  readonly mount: KvMount;
  readonly secret: string;
}

/** What is known of one version beside its values. */
export interface VersionFacts {
  readonly version: number;
  readonly created_time: string;
  /** '' for a version that nobody has deleted. It may lie ahead. */
  readonly deletion_time: string;
  readonly destroyed: boolean;
}

/** What is known of a secret of version 2. */
export interface SecretFacts {
  readonly current_version: number;
  readonly current_metadata_version: number;
  readonly oldest_version: number;
  readonly max_versions: number;
  readonly cas_required: boolean;
  readonly delete_version_after: string;
  readonly created_time: string;
  readonly updated_time: string;
  readonly custom_metadata: Readonly<Record<string, string>> | null;
  readonly versions: Readonly<Record<string, Omit<VersionFacts, 'version'>>>;
}

/** What reading a secret brought. */
export interface SecretRead {
  /** Undefined: the version is deleted or destroyed, or there is no such secret. */
  readonly data: Readonly<Record<string, Json>> | undefined;
  /** Undefined with version 1 of key-value, and where there is no such secret. */
  readonly facts: VersionFacts | undefined;
}

/** Reads a secret, or a version of it; numbers keep their digits. @throws ApiError */
export async function readSecret(mount: KvMount, secret: string, version?: number, signal?: AbortSignal): Promise<SecretRead> {
  try {
    const { data } = await send('GET', apiPath(dataPath(mount, secret)), { query: { version }, signal, exact: true });
    if (mount.version === 1) return { data: data as Record<string, Json>, facts: undefined };
    const { data: values, metadata } = data as { data: Record<string, Json> | null; metadata: VersionFacts };
    return { data: values ?? undefined, facts: metadata };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404 || error.errors.length > 0) throw error;
    const body = error.body as { data?: Json } | null;
    const facts = isRecord(body?.data) && isRecord(body.data.metadata) ? (body.data.metadata as unknown as VersionFacts) : undefined;
    return { data: undefined, facts };
  }
}

/** A secret as pages read it: it is forgotten as soon as no page shows it. */
export function useSecret(mount: KvMount, secret: string, version?: number): UseQueryResult<SecretRead> {
  return useQuery({
    queryKey: [apiPath(dataPath(mount, secret)), 'secret', version ?? 0],
    queryFn: async ({ signal }) => readSecret(mount, secret, version, signal),
    gcTime: 0,
    staleTime: 0,
    refetchOnWindowFocus: false,
  });
}

/** Undefined where there is no such secret. */
export function useFacts(mount: KvMount, secret: string, enabled = true): UseQueryResult<SecretFacts | null> {
  return useQuery({
    queryKey: [apiPath(metadataPath(mount, secret)), 'facts'],
    enabled: mount.version === 2 && enabled,
    queryFn: async ({ signal }) => {
      try {
        return (await send<SecretFacts>('GET', apiPath(metadataPath(mount, secret)), { signal })).data;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** After a write: whatever shows the secret, its versions or its folder reads again. */
export async function secretChanged(client: QueryClient, mount: KvMount, secret: string): Promise<void> {
  const folders = secret.split('/').map((_, at, parts) => parts.slice(0, at).join('/') + (at > 0 ? '/' : ''));
  await makeStale(client, [
    apiPath(dataPath(mount, secret)),
    apiPath(metadataPath(mount, secret)),
    ...folders.map((folder) => apiPath(metadataPath(mount, folder))),
  ]);
}

/** Whether a version can be read now. */
export function stateOf({ deletion_time, destroyed }: Omit<VersionFacts, 'version'>): 'live' | 'deleted' | 'destroyed' {
  if (destroyed) return 'destroyed';
  return deletion_time !== '' && new Date(deletion_time).getTime() <= Date.now() ? 'deleted' : 'live';
}
