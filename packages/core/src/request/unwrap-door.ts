import type { Call } from './call.ts';

/**
 * Unwrapping needs no policy: holding the wrapping token is the right to it, be it sent as the caller's token or in the body.
 * A caller who also shows a token of their own is asked for that one's policy.
 */
export class UnwrapDoor {
  enter(call: Call): boolean {
    if (call.path !== 'sys/wrapping/unwrap' || call.operation !== 'update') return false;
    const inBody = call.data['token'];
    if (typeof inBody === 'string' && inBody !== '' && call.bearer !== undefined && call.bearer !== inBody) return false;
    call.allowed = true;
    return true;
  }
}
