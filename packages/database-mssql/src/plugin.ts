import { sqlPlugin } from '@strongroom/database-knex';
import { mssqlDialect, systemName, timestampText } from '@strongroom/database-sdk';
import { MssqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';

export const mssqlPlugin = sqlPlugin({
  name: 'mssql-database-plugin',
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href, 'tedious'],
  connection: MssqlConnection,
  expiry: 'lease-only',
  usernameTemplate:
    '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 20) (.RoleName | truncate 20) (random 20) (unix_time) | truncate 128 }}',
  usernameMaxLength: 128,
  dialect: mssqlDialect,
  /** Both depend on whether the database is contained: the driver has them. */
  defaults: { updateUser: [] },
  expiration: timestampText,
  target: (config) => parseConnectionString(config.connection_url, config),
  /** Logins belong to the server, users of a contained database to that. The failover partner has the same, and need not be named everywhere. */
  system({ addresses, database = '' }, { contained_db: contained }) {
    const [{ host, port, instance } = { host: '' }] = addresses;
    const place = instance === undefined ? { host, port: port ?? 1433 } : { host: `${host}\\${instance}`, port };
    return systemName('sqlserver', [place]) + (contained ? `/${database.toLowerCase()}` : '');
  },
  /** By nearly all collations capitals do not make another login. */
  canonicalUser: ({ username }) => username.toLowerCase(),
  driver: async (target, config) => (await import('./driver.ts')).mssqlDriver(target, config),
});
