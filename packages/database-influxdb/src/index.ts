export { InfluxdbConnection } from './connection-schema.ts';
export { influxdbPlugin } from './plugin.ts';
