import { InvalidRequest } from '@strongroom/engine-sdk';

/** The refusal of a renewal, in the words that clients know. */
export function renewalRefused(reason: string): InvalidRequest {
  return new InvalidRequest(`failed to renew entry: ${reason}`);
}

/** Whether two lists name the same policies; `default` does not count. */
export function samePolicies(granted: readonly string[], held: readonly string[]): boolean {
  const a = policySet(granted);
  const b = policySet(held);
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function policySet(names: readonly string[]): Set<string> {
  const set = new Set(names.map((name) => name.trim().toLowerCase()));
  set.delete('default');
  set.delete('');
  return set;
}
