import { BadRequest } from '@strongroom/engine-sdk';

const LONGEST = 300;
const UNPRINTABLE = /[\u0000-\u001f\u007f\ud800-\udfff]/u;

/** Refuses what cannot be the path of a mount: it becomes part of storage keys and of URLs. @throws BadRequest */
export function checkMountPath(path: string, kind: 'secret' | 'auth'): void {
  const name = kind === 'auth' ? path.slice('auth/'.length) : path;
  if (name === '/' || name === '') throw new BadRequest('missing mount path');
  const segments = path.split('/');
  if (
    path.length > LONGEST ||
    UNPRINTABLE.test(path) ||
    segments.slice(0, -1).some((segment) => segment === '' || segment === '.' || segment === '..')
  ) {
    throw new BadRequest(`invalid mount path ${JSON.stringify(path.slice(0, LONGEST))}`);
  }
}
