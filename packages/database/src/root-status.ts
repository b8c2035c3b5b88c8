import { Type, type Static } from 'typebox';
import type { ConnectionRecord } from './records.ts';

/** Where the rotation of a connection's root credential stands. */
export const RootStatus = Type.Object({
  state: Type.Union([Type.Literal('never'), Type.Literal('rotated'), Type.Literal('unsettled'), Type.Literal('failed')]),
  last_rotation: Type.Union([Type.String(), Type.Null()]),
  last_error: Type.Union([Type.Object({ message: Type.String(), time: Type.String() }), Type.Null()]),
});
export type RootStatus = Static<typeof RootStatus>;

export function rootStatus(record: ConnectionRecord): RootStatus {
  const { last_root_rotation: last, last_root_error: error, root_pending: pending } = record;
  return {
    state: pending ? 'unsettled' : error ? 'failed' : last === undefined ? 'never' : 'rotated',
    last_rotation: last === undefined ? null : new Date(last).toISOString(),
    last_error: error ? { message: error.message, time: new Date(error.at).toISOString() } : null,
  };
}
