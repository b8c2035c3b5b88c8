import { BadRequest } from '@strongroom/engine-sdk';
import type { RequestOperation } from './core-request.ts';

/** Longest request path, in bytes: it becomes part of storage keys. */
export const MAX_PATH_BYTES = 1_024;

const UNPRINTABLE = /[\u0000-\u001f\u007f]|[\ud800-\udfff]/u;
const RELATIVE = /(?:^|\/)\.{1,2}(?:\/|$)/;

/**
 * Refuses what no engine should have to think about, and takes one closing slash away from all but lists and scans, which end in one. What comes after
 * this sees one variant of the path, but for names that fold: see mounts/canonical-path.ts. @throws BadRequest
 */
export function admittedPath(path: string, operation: RequestOperation): string {
  if (UNPRINTABLE.test(path)) throw new BadRequest('path must contain only printable characters');
  if (path.length > MAX_PATH_BYTES / 3 && Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new BadRequest(`path is longer than ${MAX_PATH_BYTES} bytes`);
  if (path.includes('.') && RELATIVE.test(path)) {
    const segment = path.split('/').includes('..') ? '..' : '.';
    throw new BadRequest(`relative paths not supported: '${segment}' is not allowed`);
  }
  if (path.includes('//')) throw new BadRequest('path must not contain empty segments');
  if (path.startsWith('/')) throw new BadRequest('path must not begin with a slash');
  const slash = path.endsWith('/');
  if (operation === 'list' || operation === 'scan') return slash ? path : `${path}/`;
  if (slash && (operation === 'update' || operation === 'create')) throw new BadRequest("cannot write to a path ending in '/'");
  return slash ? path.slice(0, -1) : path;
}
