export { MysqlConnection } from './connection-schema.ts';
export { mysqlAuroraPlugin, mysqlLegacyPlugin, mysqlPlugin, mysqlRdsPlugin, type MysqlPlugin } from './plugins.ts';
