export type { GcpSmOptions } from './connection.ts';
export { GcpSmConnection } from './connection.ts';
export { createGcpSmDestination, gcpSmDestination } from './plugin.ts';
