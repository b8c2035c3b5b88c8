export { CONTRACT_CASES } from './cases.ts';
export type { ContractCase } from './cases.ts';
export { databasePluginContract } from './contract.ts';
export { loggingHost, type LoggingHost } from './logging-host.ts';
export { abortCreation, doAllAsManager, usual, withSession, type UsualArguments } from './test-session.ts';
export type { ContractOptions, Runner, Skip } from './options.ts';
export { databasePluginDeclaration } from './declaration-table.ts';
export type { DeclarationTable, DeclaredPlugin } from './declaration-table.ts';
