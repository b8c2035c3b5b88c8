export { readSnapshot } from './read-snapshot.ts';
export type { ReadSnapshot, SnapshotReader } from './read-snapshot.ts';
export { SnapshotFault } from './snapshot-fault.ts';
export { FORMAT } from './snapshot-meta.ts';
export type { SnapshotMeta } from './snapshot-meta.ts';
export { writeSnapshot } from './write-snapshot.ts';
export type { SnapshotParts } from './write-snapshot.ts';
