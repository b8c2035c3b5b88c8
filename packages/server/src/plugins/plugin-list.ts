import type { Plugin } from '@strongroom/engine-sdk';

/** Brings a plugin's value. Importing one does nothing but cost time, and drivers load when used. */
type Loader = () => Promise<readonly Plugin[]>;

/** What every server offers. This is the only list of engines in Strongroom. */
export const BUILT_IN: readonly Loader[] = [
  async () => [(await import('@strongroom/kv')).kvEngine],
  async () => [(await import('@strongroom/auth-ldap')).ldapAuth],
  async () => [(await import('@strongroom/ldap-secrets')).ldapSecrets],
  async () => [(await import('@strongroom/cloud')).awsEngine],
  async () => [(await import('@strongroom/database')).databaseEngine],
  async () => [(await import('@strongroom/database-postgresql')).postgresqlPlugin],
  async () => {
    const mysql = await import('@strongroom/database-mysql');
    return [mysql.mysqlPlugin, mysql.mysqlAuroraPlugin, mysql.mysqlRdsPlugin, mysql.mysqlLegacyPlugin];
  },
  async () => [(await import('@strongroom/database-mssql')).mssqlPlugin],
  async () => {
    const redis = await import('@strongroom/database-redis');
    return [redis.redisPlugin, redis.valkeyPlugin];
  },
  async () => [(await import('@strongroom/database-mongodb')).mongodbPlugin],
  async () => [(await import('@strongroom/database-cassandra')).cassandraPlugin],
  async () => [(await import('@strongroom/database-influxdb')).influxdbPlugin],
  async () => [(await import('@strongroom/sync')).syncEngine],
  async () => [(await import('@strongroom/sync-aws-sm')).awsSmDestination],
  async () => [(await import('@strongroom/sync-azure-kv')).azureKvDestination],
  async () => [(await import('@strongroom/sync-gcp-sm')).gcpSmDestination],
  async () => [(await import('@strongroom/sync-github')).githubDestination],
  async () => [(await import('@strongroom/sync-vercel')).vercelDestination],
];

export async function builtInPlugins(): Promise<Plugin[]> {
  const plugins: Plugin[] = [];
  // One after the other: most of it is parsing, which nothing does in parallel, and jest cannot load modules that share others at once.
  for (const load of BUILT_IN) plugins.push(...(await load()));
  return plugins;
}
