import { f, path, type AnyPath } from '@strongroom/engine-sdk';
import { warned } from '@strongroom/rotation';
import type { RootRotation } from './root-rotation.ts';

export function rotateRootPaths(rotation: RootRotation): readonly AnyPath[] {
  const rotate = path('rotate-root/{name}', {
    synopsis: 'Changes the password of a connection’s root user.',
    description: 'The root user must be allowed to change its own password. Nobody can read the new one.',
    fields: { name: f.name('Name of the connection.') },
  }).update({
    summary: 'Rotates the root password.',
    handle: async (req) => {
      return warned(await rotation.rotate(req.data.name, req.signal));
    },
  });
  return [rotate];
}
