import type { EngineHost } from '@strongroom/engine-sdk';
import { BindRotation, createDirectory, DirectoryMisused, makePassword, schemas, settingsOf } from '@strongroom/ldap-client';
import { configsIn, CONFIG, schemaOf, type LdapAuthConfig } from './config.ts';

/** Rotation of the password that the method searches with. */
export type RootRotation = BindRotation<LdapAuthConfig>;

/** The rotation of the mount; `read` gives its configuration. Connections of its own are made for it: those of logins go on. */
export function rootRotation(host: EngineHost, read: () => Promise<LdapAuthConfig>): RootRotation {
  const changes = new Map<string, string>();
  return new BindRotation<LdapAuthConfig>(host, {
    id: CONFIG,
    target: '',
    retry: 'config/rotate-root',
    records: configsIn,
    require: async () => {
      const config = await read();
      for (const field of ['binddn', 'bindpass'] as const)
        if (config[field] === '') throw new DirectoryMisused(`${field} is not set: there is no password to rotate`);
      return config;
    },
    make: async ({ password_policy = '' }) => makePassword(host, { password_policy, length: 0 }),
    schema: (config) => schemas[schemaOf(config)],
    bindName: ({ binddn }) => binddn,
    open: async (config, work) => {
      const directory = createDirectory(settingsOf(config), { clock: host.clock, log: host.log, changes });
      try {
        const binding = { dn: config.binddn, password: config.bindpass };
        return await work({ directory, bound: async (inner, use) => directory.withServiceConnection(binding, inner, use) });
      } finally {
        directory.close();
      }
    },
  });
}
