import type { Plugin } from '@strongroom/engine-sdk';

/** Brings a plugin's value. Importing one does nothing but cost time, so a server imports all at once, and drivers load when used. */
type Loader = () => Promise<readonly Plugin[]>;

/** What every server offers. This is the only list of engines in Strongroom. */
export const BUILT_IN: readonly Loader[] = [
  async () => [(await import('@strongroom/kv')).kvEngine],
  async () => [(await import('@strongroom/auth-ldap')).ldapAuth],
  async () => [(await import('@strongroom/database')).databaseEngine],
  async () => [(await import('@strongroom/database-postgresql')).postgresqlPlugin],
  async () => {
    const { mysqlPlugin, mysqlAuroraPlugin, mysqlRdsPlugin, mysqlLegacyPlugin } = await import('@strongroom/database-mysql');
    return [mysqlPlugin, mysqlAuroraPlugin, mysqlRdsPlugin, mysqlLegacyPlugin];
  },
];

export async function builtInPlugins(): Promise<Plugin[]> {
  return (await Promise.all(BUILT_IN.map(async (load) => load()))).flat();
}
