import { path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { inTrouble, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { recordsIn, ROOT } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticKeys } from './static-keys.ts';

export function failingPaths(host: EngineHost, keys: StaticKeys, roots: RootRotation): readonly AnyPath[] {
  const records = recordsIn(host.storage);
  const failing = path('failing', {
    synopsis: 'What does not work at the moment.',
    description: 'Static roles whose rotation fails or is of unknown outcome, and the rotation of the root credential likewise.',
    fields: {},
  }).read({
    summary: 'Shows rotations that fail.',
    response: Type.Object({
      static_roles: Type.Record(Type.String(), RotationStatus),
      root_rotations: Type.Record(Type.String(), RotationStatus),
    }),
    handle: async () => {
      const root = await records.root.get(ROOT);
      return {
        data: {
          static_roles: await inTrouble(keys.rotation, await records.staticRoles.entries()),
          root_rotations: await inTrouble(roots.rotation, root ? [[ROOT, root]] : []),
        },
      };
    },
  });
  return [failing];
}
