export { CONTRACT_CASES } from './cases.ts';
export type { ContractCase } from './cases.ts';
export { databasePluginContract } from './contract.ts';
export type { ContractOptions, Runner, Skip } from './options.ts';
