import type { AnyPath, EngineHost } from '@strongroom/engine-sdk';
import { failingPath, inTrouble } from '@strongroom/rotation';
import { recordsIn, ROOT } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticKeys } from './static-keys.ts';

export function cloudFailingPath(host: EngineHost, keys: StaticKeys, roots: RootRotation): AnyPath {
  const records = recordsIn(host.storage);
  return failingPath({
    description: 'Static roles whose rotation fails or is of unknown outcome, and the rotation of the root credential likewise.',
    summary: 'Shows rotations that fail.',
    rotations: {
      static_roles: async () => inTrouble(keys.rotation, await records.staticRoles.entries()),
      root_rotations: async () => {
        const root = await records.root.get(ROOT);
        return inTrouble(roots.rotation, root ? [[ROOT, root]] : []);
      },
    },
  });
}
