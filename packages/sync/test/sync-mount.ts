import { kvEngine } from '@strongroom/kv';
import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { CoreResponse } from '@strongroom/core';
import type { Plugin } from '@strongroom/engine-sdk';
import { memoryDestination, MemoryProvider, type MemoryDestination, type MemoryProviderOptions } from '@strongroom/sync-testkit';
import { syncEngine } from '../src/index.ts';

export type Data = Record<string, unknown>;

export interface Association {
  readonly accessor: string;
  readonly mount: string;
  readonly secret_name: string;
  readonly sub_key?: string;
  readonly by_rule_alone?: boolean;
  readonly sync_status: string;
  readonly updated_at: string;
  readonly remote_name?: string;
  readonly remote_version?: string;
  readonly attempts: number;
  readonly next_attempt_at?: string;
  readonly last_error?: { readonly message: string; readonly code?: string; readonly request_id?: string };
}

/** A server with kv at `kv/`, secret sync, and a destination `memory/one` over a provider in memory. */
export interface SyncMount extends TestMount {
  readonly provider: MemoryProvider;
  ask(operation: 'read' | 'list' | 'update' | 'patch' | 'delete', path: string, data?: Data, token?: string): Promise<CoreResponse>;
  /** Writes a secret below `kv/`. */
  put(name: string, data: Data): Promise<void>;
  set(secret: string, more?: Data): Promise<Association[]>;
  remove(secret: string, more?: Data): Promise<Association[]>;
  associations(destination?: string): Promise<Association[]>;
  /** The only association there is. */
  only(): Promise<Association>;
  accessor(mount?: string): Promise<string>;
}

export const CONNECTION = { access_token: 'memory-token', disable_strict_networking: true, secret_name_template: 'app/{{ .SecretPath }}' };

export async function syncMount(
  options: MemoryProviderOptions & {
    readonly mount?: TestMountOptions;
    readonly provider?: MemoryProvider;
    /** In the place of the usual one over the provider. */
    readonly destination?: MemoryDestination;
    readonly plugins?: Plugin[];
  } = {},
): Promise<SyncMount> {
  const provider = options.provider ?? new MemoryProvider(options);
  const plugins = [kvEngine, (options.destination ?? memoryDestination(provider)) as unknown as Plugin, ...(options.plugins ?? [])];
  const mount = await mountForTest(syncEngine, { ...options.mount, plugins });
  const sync = withCalls(mount, provider);
  const known = (await sync.ask('read', 'sys/mounts')).data as Record<string, unknown>;
  if (!('kv/' in known)) {
    await checked(sync.ask('update', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }));
    await checked(sync.ask('update', 'sys/sync/destinations/memory/one', CONNECTION));
  }
  return sync;
}

export function withCalls<M extends TestMount>(mount: M, provider: MemoryProvider): M & SyncMount {
  const ask: SyncMount['ask'] = async (operation, path, data, token) =>
    mount.call(operation, path, { ...(data ? { data } : {}), ...(token === undefined ? {} : { token }) });
  const at = 'sys/sync/destinations/memory/one/associations';
  const entries = (response: CoreResponse): Association[] =>
    Object.values((response.data as { associated_secrets: Record<string, Association> }).associated_secrets);
  return {
    ...mount,
    provider,
    ask,
    put: async (name, data) => void (await checked(ask('update', `kv/data/${name}`, { data }))),
    set: async (secret, more) => entries(await checked(ask('update', `${at}/set`, { mount: 'kv', secret_name: secret, ...more }))),
    remove: async (secret, more) => entries(await checked(ask('update', `${at}/remove`, { mount: 'kv', secret_name: secret, ...more }))),
    associations: async (destination = 'memory/one') =>
      entries(await checked(ask('read', `sys/sync/destinations/${destination}/associations`))),
    only: async () => {
      const all = entries(await checked(ask('read', at)));
      if (all.length !== 1) throw new Error(`${all.length} associations`);
      return all[0]!;
    },
    accessor: async (path = 'kv') => ((await ask('read', 'sys/mounts')).data as Record<string, { accessor: string }>)[`${path}/`]!.accessor,
  };
}

export async function checked(answer: Promise<CoreResponse>): Promise<CoreResponse> {
  const response = await answer;
  if (response.status >= 400) throw new Error(`${response.status}: ${(response.errors ?? []).join('; ')}`);
  return response;
}
