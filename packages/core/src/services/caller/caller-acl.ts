import type { Acl } from '../policies/acl.ts';

/** Kept beside the request, not on it: an engine that is handed the request cannot reach what the caller may do. */
const acls = new WeakMap<object, Acl>();

export function rememberAcl(request: object, acl: Acl): void {
  acls.set(request, acl);
}

/** Whether the caller of the request may read the path. False for a request that is not an engine's own. */
export function callerMayRead(request: object, path: string): boolean {
  return acls.get(request)?.check({ operation: 'read', path }).allowed === true;
}
