import { isInTrouble, type RotationStatus } from './rotation-status.ts';

/** What tells how the rotations of its records stand. */
export interface RotationStatuses<R> {
  status(id: string, record: R): Promise<RotationStatus>;
}

/** The status of each of these records whose rotation is in trouble, by id or by what `named` calls it: for `GET <mount>/failing`. */
export async function inTrouble<R>(
  rotation: RotationStatuses<R>,
  records: readonly (readonly [id: string, record: R])[],
  named: (id: string, record: R) => string = (id) => id,
): Promise<Record<string, RotationStatus>> {
  const found: Record<string, RotationStatus> = {};
  for (const [id, record] of records) {
    const status = await rotation.status(id, record);
    if (isInTrouble(status)) found[named(id, record)] = status;
  }
  return found;
}
