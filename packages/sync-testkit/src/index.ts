export { SYNC_CONTRACT_CASES } from './contract/cases.ts';
export type { SyncContractCase } from './contract/cases.ts';
export type { Outside, OutsideSecret, Runner, Skip, SyncContractOptions } from './contract/options.ts';
