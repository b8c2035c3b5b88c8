import type { DatabasePlugin } from '@strongroom/database-sdk';
import { MysqlConnection } from './connection-schema.ts';
import { previewCreation } from './creation.ts';
import { canonicalUser, identify } from './identity.ts';

export type MysqlPlugin = DatabasePlugin<typeof MysqlConnection>;

/** What user names may be: 32 characters since MySQL 5.7, 80 in MariaDB, 16 before. */
const LONG = 32;
const SHORT = 16;

const LONG_NAMES = `{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 10) (.RoleName | truncate 10) (random 20) (unix_time) | truncate ${LONG} }}`;
const SHORT_NAMES = `{{ printf "v-%s-%s" (.RoleName | truncate 4) (random 20) | truncate ${SHORT} }}`;

function plugin(name: string, usernameTemplate: string, usernameMaxLength: number): MysqlPlugin {
  return {
    kind: 'database',
    name,
    version: '0.1.0',
    apiVersion: 1,
    code: [new URL('.', import.meta.url).href, 'mysql2'],
    connection: MysqlConnection,
    supports: { credentials: ['password', 'client_certificate'], expiry: 'lease-only', statements: 'sql' },
    usernameTemplate,
    usernameMaxLength,
    identify,
    canonicalUser,
    preview: previewCreation,
    open: async (config, host) => (await import('./open.ts')).openMysql(config, host),
  };
}

/** MySQL 5.7 and later, MariaDB. */
export const mysqlPlugin = plugin('mysql-database-plugin', LONG_NAMES, LONG);
/** As `mysqlPlugin`, with the short names that clusters begun on MySQL 5.6 want. */
export const mysqlAuroraPlugin = plugin('mysql-aurora-database-plugin', SHORT_NAMES, LONG);
export const mysqlRdsPlugin = plugin('mysql-rds-database-plugin', SHORT_NAMES, LONG);
/** MySQL 5.6, which takes no longer names. */
export const mysqlLegacyPlugin = plugin('mysql-legacy-database-plugin', SHORT_NAMES, SHORT);
