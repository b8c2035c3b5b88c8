export { CassandraConnection } from './connection-schema.ts';
export { cassandraPlugin } from './plugin.ts';
