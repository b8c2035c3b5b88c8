export { MssqlConnection } from './connection-schema.ts';
export { mssqlPlugin } from './plugin.ts';
