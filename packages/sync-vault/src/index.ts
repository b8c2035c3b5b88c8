export { VaultConnection } from './connection.ts';
export { vaultDestination } from './plugin.ts';
