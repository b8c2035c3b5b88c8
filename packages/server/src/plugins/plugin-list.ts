import type { AbsentPlugin } from '@strongroom/core';
import type { Plugin } from '@strongroom/engine-sdk';

/** One package of ours, with the plugins that it brings. */
interface Offer {
  readonly package: string;
  /** `<kind>/<name>` of each, so that one which is not installed can be named. */
  readonly brings: readonly string[];
  /** Of an engine that the server mounts itself, below `sys/`. */
  readonly system?: `sys/${string}/`;
  /** Brings the values. Importing them does nothing but cost time, and drivers load when used. */
  readonly load: () => Promise<readonly Plugin[]>;
}

/** What a server offers where it is installed. This is the only list of engines in Strongroom. All but key-value are optional packages. */
export const OFFERED: readonly Offer[] = [
  { package: '@strongroom/kv', brings: ['secret/kv'], load: async () => [(await import('@strongroom/kv')).kvEngine] },
  { package: '@strongroom/auth-cert', brings: ['auth/cert'], load: async () => [(await import('@strongroom/auth-cert')).certAuth] },
  {
    package: '@strongroom/auth-approle',
    brings: ['auth/approle'],
    load: async () => [(await import('@strongroom/auth-approle')).approleAuth],
  },
  {
    package: '@strongroom/auth-jwt',
    brings: ['auth/jwt', 'auth/oidc'],
    load: async () => {
      const { jwtAuth, oidcAuth } = await import('@strongroom/auth-jwt');
      return [jwtAuth, oidcAuth];
    },
  },
  { package: '@strongroom/auth-ldap', brings: ['auth/ldap'], load: async () => [(await import('@strongroom/auth-ldap')).ldapAuth] },
  {
    package: '@strongroom/auth-userpass',
    brings: ['auth/userpass'],
    load: async () => [(await import('@strongroom/auth-userpass')).userpassAuth],
  },
  {
    package: '@strongroom/auth-kubernetes',
    brings: ['auth/kubernetes'],
    load: async () => [(await import('@strongroom/auth-kubernetes')).kubernetesAuth],
  },
  {
    package: '@strongroom/kubernetes',
    brings: ['secret/kubernetes'],
    load: async () => [(await import('@strongroom/kubernetes')).kubernetesEngine],
  },
  {
    package: '@strongroom/ldap-secrets',
    brings: ['secret/ldap'],
    load: async () => [(await import('@strongroom/ldap-secrets')).ldapSecrets],
  },
  { package: '@strongroom/transit', brings: ['secret/transit'], load: async () => [(await import('@strongroom/transit')).transitEngine] },
  { package: '@strongroom/totp', brings: ['secret/totp'], load: async () => [(await import('@strongroom/totp')).totpEngine] },
  {
    package: '@strongroom/rabbitmq',
    brings: ['secret/rabbitmq'],
    load: async () => [(await import('@strongroom/rabbitmq')).rabbitmqEngine],
  },
  { package: '@strongroom/cloud', brings: ['secret/aws'], load: async () => [(await import('@strongroom/cloud')).awsEngine] },
  {
    package: '@strongroom/database',
    brings: ['secret/database'],
    load: async () => [(await import('@strongroom/database')).databaseEngine],
  },
  {
    package: '@strongroom/database-postgresql',
    brings: ['database/postgresql-database-plugin'],
    load: async () => [(await import('@strongroom/database-postgresql')).postgresqlPlugin],
  },
  {
    package: '@strongroom/database-mysql',
    brings: ['mysql', 'mysql-aurora', 'mysql-rds', 'mysql-legacy'].map((name) => `database/${name}-database-plugin`),
    load: async () => {
      const mysql = await import('@strongroom/database-mysql');
      return [mysql.mysqlPlugin, mysql.mysqlAuroraPlugin, mysql.mysqlRdsPlugin, mysql.mysqlLegacyPlugin];
    },
  },
  {
    package: '@strongroom/database-mssql',
    brings: ['database/mssql-database-plugin'],
    load: async () => [(await import('@strongroom/database-mssql')).mssqlPlugin],
  },
  {
    package: '@strongroom/database-redis',
    brings: ['redis', 'valkey'].map((name) => `database/${name}-database-plugin`),
    load: async () => {
      const redis = await import('@strongroom/database-redis');
      return [redis.redisPlugin, redis.valkeyPlugin];
    },
  },
  {
    package: '@strongroom/database-mongodb',
    brings: ['database/mongodb-database-plugin'],
    load: async () => [(await import('@strongroom/database-mongodb')).mongodbPlugin],
  },
  {
    package: '@strongroom/database-cassandra',
    brings: ['database/cassandra-database-plugin'],
    load: async () => [(await import('@strongroom/database-cassandra')).cassandraPlugin],
  },
  {
    package: '@strongroom/database-influxdb',
    brings: ['database/influxdb-database-plugin'],
    load: async () => [(await import('@strongroom/database-influxdb')).influxdbPlugin],
  },
  {
    package: '@strongroom/database-neo4j',
    brings: ['database/neo4j-database-plugin'],
    load: async () => [(await import('@strongroom/database-neo4j')).neo4jPlugin],
  },
  {
    package: '@strongroom/database-opensearch',
    brings: ['database/opensearch-database-plugin'],
    load: async () => [(await import('@strongroom/database-opensearch')).opensearchPlugin],
  },
  {
    package: '@strongroom/sync',
    brings: ['secret/sync'],
    system: 'sys/sync/',
    load: async () => [(await import('@strongroom/sync')).syncEngine],
  },
  {
    package: '@strongroom/sync-aws-sm',
    brings: ['sync-destination/aws-sm'],
    load: async () => [(await import('@strongroom/sync-aws-sm')).awsSmDestination],
  },
  {
    package: '@strongroom/sync-aws-ssm',
    brings: ['sync-destination/aws-ssm'],
    load: async () => [(await import('@strongroom/sync-aws-ssm')).awsSsmDestination],
  },
  {
    package: '@strongroom/sync-azure-kv',
    brings: ['sync-destination/azure-kv'],
    load: async () => [(await import('@strongroom/sync-azure-kv')).azureKvDestination],
  },
  {
    package: '@strongroom/sync-gcp-sm',
    brings: ['sync-destination/gcp-sm'],
    load: async () => [(await import('@strongroom/sync-gcp-sm')).gcpSmDestination],
  },
  {
    package: '@strongroom/sync-github',
    brings: ['sync-destination/gh'],
    load: async () => [(await import('@strongroom/sync-github')).githubDestination],
  },
  {
    package: '@strongroom/sync-kubernetes',
    brings: ['sync-destination/kubernetes'],
    load: async () => [(await import('@strongroom/sync-kubernetes')).kubernetesDestination],
  },
  {
    package: '@strongroom/sync-vault',
    brings: ['sync-destination/vault'],
    load: async () => [(await import('@strongroom/sync-vault')).vaultDestination],
  },
  {
    package: '@strongroom/sync-vercel',
    brings: ['sync-destination/vercel-project'],
    load: async () => [(await import('@strongroom/sync-vercel')).vercelDestination],
  },
  {
    package: '@strongroom/snapshot-aws-s3',
    brings: ['snapshot-storage/aws-s3'],
    load: async () => [(await import('@strongroom/snapshot-aws-s3')).awsS3Snapshots],
  },
];

export interface OfferedPlugins {
  readonly installed: readonly Plugin[];
  readonly absent: readonly AbsentPlugin[];
}

/** Loads the offered packages that are installed, and names the others. @throws what a package throws that is there and cannot be loaded */
export async function offeredPlugins(offers: readonly Offer[] = OFFERED): Promise<OfferedPlugins> {
  const installed: Plugin[] = [];
  const absent: AbsentPlugin[] = [];
  // One after the other: most of it is parsing, which nothing does in parallel, and jest cannot load modules that share others at once.
  for (const offer of offers) {
    const plugins = await offer.load().catch((error: unknown) => {
      if (isMissing(error, offer.package)) return undefined;
      throw error;
    });
    if (plugins) installed.push(...plugins);
    else absent.push(...absentOf(offer));
  }
  return { installed, absent };
}

function absentOf({ package: from, brings, system }: Offer): AbsentPlugin[] {
  return brings.map((plugin) => {
    const [kind = '', name = ''] = plugin.split('/');
    return { kind, name, package: from, ...(system === undefined ? {} : { system: { path: system } }) };
  });
}

/** Whether an import failed because this very package is not there, and not because something that it needs is missing. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && message.startsWith(`Cannot find package '${name}'`);
}
