import { heldBy } from '@strongroom/auth-sdk';
import { holderSource, type HolderSource } from '@strongroom/engine-sdk';
import type { ConfigStore } from './config-store.ts';
import type { Mappings } from './mappings.ts';

/** Who has policies by this mount: everybody by the configuration, groups and users by their mappings. */
export async function policyHolders(configs: Pick<ConfigStore, 'read'>, { groups, users }: Mappings): Promise<HolderSource[]> {
  const { policies, withDefault } = heldBy(await configs.read());
  const everybody = { kind: 'config', path: 'config', name: 'everybody', policies, withDefault };
  return [
    { at: 'config', page: async ({ after }) => (after === undefined ? [[everybody.name, everybody]] : []) },
    holderSource('groups', 'group', groups.records, (group) => ({ policies: group.policies, withDefault })),
    holderSource('users', 'user', users.records, (user) => ({ policies: user.policies, withDefault })),
  ];
}
