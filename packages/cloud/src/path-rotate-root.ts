import { f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { RootRotation } from './root-rotation.ts';

export function rotateRootPaths(rotation: RootRotation): readonly AnyPath[] {
  const rotate = path('config/rotate-root', {
    synopsis: 'Replaces the access key of config/root by a new one.',
    description:
      'The configured key must be the only one of its user. The new key is tried before the old one is forgotten; then the old one is deactivated ' +
      'and deleted. Calls may fail for some seconds after that, until the provider knows the new key everywhere.',
    fields: { adopt: f.bool('Take the user over from whoever manages its keys, or uses them, in another mount.', { default: false }) },
  }).update({
    summary: 'Rotates the root credential.',
    response: Type.Object({ access_key: Type.String({ description: 'Id of the new key.' }) }),
    handle: async (req) => ({ data: { access_key: await rotation.rotate(req.signal, req.data.adopt) } }),
  });
  return [rotate];
}
