import type { EngineHost } from '@strongroom/engine-sdk';
import { bindNameOf, BindRotation, makePassword } from '@strongroom/ldap-client';
import { schemaOf, type LdapSecretsConfig } from './config.ts';
import { CONFIG, recordsIn } from './records.ts';
import { requireServiceAccount } from './self-managed.ts';
import type { DirectoryService } from './service.ts';

/** Rotation of the password that the mount itself logs in with. */
export type RootRotation = BindRotation<LdapSecretsConfig>;

/** The rotation of the mount, which the service settles by from then on. */
export function rootRotation(host: EngineHost, service: DirectoryService): RootRotation {
  const root: RootRotation = new BindRotation<LdapSecretsConfig>(host, {
    id: CONFIG,
    target: service.target,
    retry: 'rotate-root',
    records: (storage) => recordsIn(storage).config,
    require: async () => {
      const config = await service.require();
      requireServiceAccount(config);
      return config;
    },
    make: async (config) => makePassword(host, config),
    schema: schemaOf,
    bindName: bindNameOf,
    open: async (config, work) =>
      service.useAsIs(config, async (open) => work({ directory: open.directory, bound: (inner, use) => service.bound(open, inner, use) })),
  });
  service.root = root;
  return root;
}
