import { path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { isInTrouble, RotationStatus } from '@strongroom/rotation';
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
      const staticRoles: Record<string, RotationStatus> = {};
      for (const [name, role] of await records.staticRoles.entries()) {
        const status = await keys.rotation.status(name, role);
        if (isInTrouble(status)) staticRoles[name] = status;
      }
      const root = await records.root.get(ROOT);
      const status = root && (await roots.rotation.status(ROOT, root));
      return { data: { static_roles: staticRoles, root_rotations: status && isInTrouble(status) ? { [ROOT]: status } : {} } };
    },
  });
  return [failing];
}
