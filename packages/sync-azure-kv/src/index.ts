export type { AzureKvOptions } from './connection.ts';
export { AzureKvConnection } from './connection.ts';
export { azureKvDestination, createAzureKvDestination } from './plugin.ts';
