import { BadRequest } from '@strongroom/engine-sdk';
import type { Call } from './call.ts';

/** Longest request path, in bytes: it becomes part of storage keys. */
export const MAX_PATH_BYTES = 1_024;

const UNPRINTABLE = /[\u0000-\u001f\u007f]/;

/** Refuses what no engine should have to think about. @throws BadRequest */
export function admit(call: Call): void {
  const { path } = call;
  if (UNPRINTABLE.test(path)) throw new BadRequest('path must contain only printable characters');
  if (path.length > MAX_PATH_BYTES / 3 && Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new BadRequest(`path is longer than ${MAX_PATH_BYTES} bytes`);
  if (path.includes('..') && path.split('/').includes('..')) throw new BadRequest("relative paths not supported: '..' is not allowed");
  if (path.includes('//')) throw new BadRequest('path must not contain empty segments');
  if (path.endsWith('/') && (call.operation === 'update' || call.operation === 'create')) {
    throw new BadRequest("cannot write to a path ending in '/'");
  }
  if (call.operation === 'list' && !path.endsWith('/')) call.path = `${path}/`;
}
