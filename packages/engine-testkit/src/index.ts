export { CONTRACT_CASES, type ContractCase } from './contract-titles.ts';
export { engineContract } from './contract.ts';
export type { ContractSkip, EngineContract, Runner } from './engine-contract.ts';
export type { KnownNames } from './garbage.ts';
export { manualClock, type ManualClock } from './manual-clock.ts';
export { CallFailed, mountForTest, type Call, type TestMount, type TestMountOptions } from './mount-for-test.ts';
export { sharedMemory, type CuttableStorage, type SharedMemory } from './shared-memory.ts';
export { killableMount, type KillableMount } from './killable-mount.ts';
export { KillableStorage } from './killable-storage.ts';
