import { sqlPlugin } from '@strongroom/database-knex';
import { type DatabasePlugin, mysqlDialect, opensslSubject, systemName, timestampText } from '@strongroom/database-sdk';
import { MysqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';

export type MysqlPlugin = DatabasePlugin<typeof MysqlConnection>;

/** What operators need not write. */
export const PASSWORD_CHANGE_DEFAULT = [`ALTER USER '{{username}}'@'%' IDENTIFIED BY '{{password}}';`];
const CERTIFICATE_CHANGE_DEFAULT = [`ALTER USER '{{username}}'@'%' REQUIRE SUBJECT '{{subject}}';`];

/** What user names may be: 32 characters since MySQL 5.7, 80 in MariaDB, 16 before. */
const LONG = 32;
const SHORT = 16;

const LONG_NAMES = `{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 10) (.RoleName | truncate 10) (random 20) (unix_time) | truncate ${LONG} }}`;
const SHORT_NAMES = `{{ printf "v-%s-%s" (.RoleName | truncate 4) (random 20) | truncate ${SHORT} }}`;

/** The host part of a user in a statement: `'{{name}}'@'localhost'`. */
const HOST_OF_USER = /\{\{(?:name|username)\}\}['"`]?\s*@\s*['"`]?([\w.:%/-]+)/;

function plugin(name: string, usernameTemplate: string, usernameMaxLength: number): MysqlPlugin {
  return sqlPlugin({
    name,
    version: '0.1.0',
    code: [new URL('.', import.meta.url).href, 'mysql2'],
    connection: MysqlConnection,
    expiry: 'lease-only',
    selfManaged: true,
    usernameTemplate,
    usernameMaxLength,
    dialect: mysqlDialect,
    defaults: { updateUser: PASSWORD_CHANGE_DEFAULT, updateCertificate: CERTIFICATE_CHANGE_DEFAULT },
    expiration: timestampText,
    subject: opensslSubject,
    verificationPrefix: 'error verifying - ping',
    target: (config) => parseConnectionString(config.connection_url, config),
    system: ({ addresses }) =>
      systemName(
        'mysql',
        addresses.map((address) => ('socketPath' in address ? { host: address.socketPath } : address)),
      ),
    /** `user@host`: a user is another one at another host. Hosts are compared without regard to capitals, names byte by byte. */
    canonicalUser({ username, statements }) {
      const host = statements.commands.flatMap((command) => HOST_OF_USER.exec(command)?.[1] ?? [])[0] ?? '%';
      return `${username}@${host.toLowerCase()}`;
    },
    driver: async (target, config) => (await import('./driver.ts')).mysqlDriver(target, config),
  });
}

/** MySQL 5.7 and later, MariaDB. */
export const mysqlPlugin = plugin('mysql-database-plugin', LONG_NAMES, LONG);
/** As `mysqlPlugin`, with the short names that clusters begun on MySQL 5.6 want. */
export const mysqlAuroraPlugin = plugin('mysql-aurora-database-plugin', SHORT_NAMES, LONG);
export const mysqlRdsPlugin = plugin('mysql-rds-database-plugin', SHORT_NAMES, LONG);
/** MySQL 5.6, which takes no longer names. */
export const mysqlLegacyPlugin = plugin('mysql-legacy-database-plugin', SHORT_NAMES, SHORT);
