export type { VercelOptions } from './connection.ts';
export { VercelConnection } from './connection.ts';
export { createVercelDestination, vercelDestination } from './plugin.ts';
