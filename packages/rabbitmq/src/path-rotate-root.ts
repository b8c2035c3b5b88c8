import { f, NoContent, path, type AnyPath } from '@strongroom/engine-sdk';
import type { RootRotation } from './root-rotation.ts';

export function rotateRootPath(root: RootRotation): AnyPath {
  return path('rotate-root', {
    synopsis: 'Changes the password of the user that the mount logs in with.',
    description: 'The new password is known to this server alone. It is proven by a login before the old one is forgotten.',
    fields: { adopt: f.bool('Take the user over from the role or mount that manages it now.', { default: false }) },
  }).update({
    summary: 'Rotates the password of the managing user now.',
    response: NoContent,
    handle: async (req) => {
      await root.rotate(req.signal, req.data.adopt);
      return undefined;
    },
  });
}
