/** What is given is no snapshot, or a damaged one. The text is for whoever gave it. */
export class SnapshotFault extends Error {
  override readonly name = 'SnapshotFault';
}
