import { sqlPlugin } from '@strongroom/database-knex';
import { postgresqlDialect, systemName, timestampText } from '@strongroom/database-sdk';
import { PostgresqlConnection } from './connection-schema.ts';
import { targetOf } from './connection-string.ts';

/** What operators need not write. */
export const RENEW_DEFAULT = [`ALTER ROLE "{{name}}" VALID UNTIL '{{expiration}}';`];
export const PASSWORD_CHANGE_DEFAULT = [`ALTER ROLE "{{username}}" WITH PASSWORD '{{password}}';`];

const USERNAME_MAX_LENGTH = 63; // `NAMEDATALEN - 1`

export const postgresqlPlugin = sqlPlugin({
  name: 'postgresql-database-plugin',
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href, 'pg', 'pg-protocol', 'pg-connection-string'],
  connection: PostgresqlConnection,
  expiry: 'native',
  ownedObjects: true,
  selfManaged: true,
  usernameTemplate:
    '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 8) (.RoleName | truncate 8) (random 20) (unix_time) | truncate 63 }}',
  usernameMaxLength: USERNAME_MAX_LENGTH,
  dialect: postgresqlDialect,
  defaults: { updateUser: PASSWORD_CHANGE_DEFAULT, renewUser: RENEW_DEFAULT },
  expiration: timestampText,
  subject: (subject) => subject,
  target: targetOf,
  /** Users belong to the server, whatever database the connection names. */
  system: ({ addresses }) => systemName('postgresql', addresses),
  /** The server cuts names that are too long, without a word. */
  canonicalUser: ({ username }) => Buffer.from(username).subarray(0, USERNAME_MAX_LENGTH).toString(),
  driver: async (target, config) => (await import('./driver.ts')).postgresqlDriver(target, config),
});
