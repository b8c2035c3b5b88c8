import { useSyncExternalStore } from 'react';

/** Paths that other servers of this API do not have. */
const OWN =
  /^sys\/(internal\/ui\/(attention|job|metrics|config|login-methods|search)|nodes|schedule|journal|circuits|events|sync|leases\/(totals|histogram|expiring|tree|failing|requeue)|policies\/(explain|explain-self|check|who))(\/|$)/;
/** The same of engines, below their mounts. */
const OWN_OF_ENGINES = /\/(failing|orphans|preview|config\/test|status|accounts|locked|reset-circuit)(\/|$)/;

let foreign = false;
const listeners = new Set<() => void>();

/** The server does not know our own paths: what needs them is not shown, and they are not called. */
export function meetForeignServer(): void {
  foreign = true;
  for (const listener of listeners) listener();
}

export function isForeign(): boolean {
  return foreign;
}

export function useForeign(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, isForeign);
}

/** Whether a call would only learn that this server has no such path. */
export function isLacking(path: string): boolean {
  return foreign && OWN.test(path);
}

/** Whether an answer says that the server has no such path, which is ours alone. */
export function saysLacking({ status, path }: { readonly status: number; readonly path: string }): boolean {
  return foreign && status === 404 && (OWN.test(path) || OWN_OF_ENGINES.test(path));
}
