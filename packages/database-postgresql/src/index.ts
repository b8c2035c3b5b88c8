export { PostgresqlConnection } from './connection-schema.ts';
export { postgresqlPlugin } from './plugin.ts';
