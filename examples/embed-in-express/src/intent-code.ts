import type { Intent } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Doors } from './doors.ts';

const NewCode = Type.Object({ door: Type.String(), code: Type.String() });
export type CodeIntent = Intent<typeof NewCode>;

/** Stands in the journal from before the door learns a code until the code's lease is stored. */
export function codeIntent(doors: Doors): CodeIntent {
  return {
    kind: 'code',
    entry: NewCode,
    minAgeSeconds: 120,
    rollback: async ({ door, code }) => {
      doors.forbid(door, code);
    },
  };
}
