import { type AnyPath, f, NoContent, path } from '@strongroom/engine-sdk';
import type { RootRotation } from './root-rotation.ts';

export function rotateRootPaths(rotation: RootRotation): readonly AnyPath[] {
  const rotate = path('rotate-root/{name}', {
    synopsis: 'Changes the password of a connection’s root user.',
    description: 'The root user must be allowed to change its own password. Nobody can read the new one.',
    fields: {
      name: f.name('Name of the connection.'),
      adopt: f.bool('Take the root user over from the role or mount that manages its password now.', { default: false }),
    },
  }).update({
    summary: 'Rotates the root password.',
    response: NoContent,
    handle: async (req) => {
      const { name, adopt } = req.data;
      if (adopt) await rotation.adopt(name);
      const warnings = await rotation.rotate(name, req.signal);
      return warnings.length === 0 ? undefined : { warnings };
    },
  });
  return [rotate];
}
