export type { ConnectionDriver } from './connection-driver.ts';
export { KnexPool, openKnexPool, retire } from './knex-pool.ts';
export { PoolCalls } from './pool-calls.ts';
export { poolSettings, type PoolSettings } from './pool-settings.ts';
