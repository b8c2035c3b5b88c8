export { CONTRACT_CASES } from './cases.ts';
export type { ContractCase } from './cases.ts';
export { databasePluginContract } from './contract.ts';
export type { ContractOptions, Runner, Skip } from './options.ts';
export { databasePluginDeclaration } from './declaration-table.ts';
export type { DeclarationTable, DeclaredPlugin } from './declaration-table.ts';
