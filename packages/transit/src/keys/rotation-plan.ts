import type { ScheduleKind, Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { versionId, versionRecords, type KeyRecord } from '../stored/records.ts';

const Entry = Type.Object({ name: Type.String(), id: Type.String() });

/** The job that rotates a key by itself; its id is the name of the key. */
export const ROTATION: ScheduleKind<typeof Entry> = { kind: 'auto-rotate', entry: Entry };

/** Plans the next rotation of a key whose latest version was made then. Within the transaction that stores the key. */
export async function planRotation(tx: Transaction, name: string, key: KeyRecord, created: string): Promise<void> {
  if (key.auto_rotate_period === 0) await tx.unschedule(ROTATION, name);
  else await tx.schedule(ROTATION, name, rotationDue(created, key.auto_rotate_period), { name, id: key.id });
}

/** The same, of a key whose latest version is stored already. */
export async function replanRotation(tx: Transaction, name: string, key: KeyRecord): Promise<void> {
  const latest = await versionRecords(tx).get(versionId(key, key.latest_version));
  if (latest) await planRotation(tx, name, key, latest.created);
}

export function rotationDue(created: string, seconds: number): Date {
  return new Date(Date.parse(created) + seconds * 1_000);
}
