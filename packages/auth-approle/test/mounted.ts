import type { CoreResponse } from '@strongroom/core';
import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import { approleAuth } from '../src/index.ts';

export interface MadeSecretId {
  readonly secret_id: string;
  readonly secret_id_accessor: string;
  readonly secret_id_num_uses: number;
  readonly secret_id_ttl: number;
}

export interface MountedAppRole extends TestMount {
  /** Creates or changes a role. Resolves with its role id. */
  role(name: string, data?: Record<string, unknown>): Promise<string>;
  secretId(role: string, data?: Record<string, unknown>): Promise<MadeSecretId>;
  login(roleId: string, secretId: string, remoteAddress?: string): Promise<CoreResponse>;
  lookup(role: string, secretId: string): Promise<Record<string, unknown> | null>;
  accessors(role: string): Promise<string[]>;
}

/** The login method in a whole core. */
export async function mounted(options: TestMountOptions = {}): Promise<MountedAppRole> {
  return withShortcuts(await mountForTest(approleAuth, options));
}

export function withShortcuts<M extends TestMount>(mount: M): M & MountedAppRole {
  return {
    ...mount,
    role: async (name, data = {}) => {
      await mount.write(`role/${name}`, data);
      return ((await mount.read(`role/${name}/role-id`)).data as { role_id: string }).role_id;
    },
    secretId: async (role, data = {}) => (await mount.write(`role/${role}/secret-id`, data)).data as MadeSecretId,
    login: async (role_id, secret_id, remoteAddress = '127.0.0.1') =>
      mount.call('update', `${mount.path}/login`, { data: { role_id, secret_id }, token: '', remoteAddress }),
    lookup: async (role, secret_id) =>
      (await mount.write(`role/${role}/secret-id/lookup`, { secret_id })).data as Record<string, unknown> | null,
    accessors: async (role) => {
      const { data } = await mount.call('list', `${mount.path}/role/${role}/secret-id`);
      return (data as { keys: string[] } | null)?.keys ?? [];
    },
  };
}
