export { SYNC_CONTRACT_CASES } from './contract/cases.ts';
export type { SyncContractCase } from './contract/cases.ts';
export type { Outside, OutsideSecret, Runner, Skip, SyncContractOptions } from './contract/options.ts';
export { syncDestinationContract } from './contract/contract.ts';
export { memoryDestination, MemoryProvider } from './contract/memory-provider.ts';
export type { MemoryDestination, MemoryProviderOptions } from './contract/memory-provider.ts';
