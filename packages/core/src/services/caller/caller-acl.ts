import type { Acl } from '../policies/acl.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { standingRightsOf } from './standing-rights.ts';

interface KnownCaller {
  readonly acl: Acl;
  readonly identity: CallerIdentity | undefined;
}

/** Kept beside the request, not on it: an engine that is handed the request cannot reach what the caller may do. */
const callers = new WeakMap<object, KnownCaller>();

export function rememberCaller(request: object, caller: KnownCaller): void {
  callers.set(request, caller);
}

/** Whether the caller of the request may read the path. False for a request that is not an engine's own. */
export function callerMayRead(request: object, path: string): boolean {
  return callers.get(request)?.acl.check({ operation: 'read', path }).allowed === true;
}

/** What the caller of the request may do from now on; nothing, for a request that is not an engine's own. */
export function rightsOfCaller(request: object): string {
  return standingRightsOf(callers.get(request)?.identity);
}
