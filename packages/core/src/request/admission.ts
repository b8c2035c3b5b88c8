import { admittedPath } from '../kernel/call/admitted-path.ts';
import type { Call } from './call.ts';

/** @throws BadRequest for a path that no engine should have to think about. */
export function admit(call: Call): void {
  call.path = admittedPath(call.path, call.operation);
}
