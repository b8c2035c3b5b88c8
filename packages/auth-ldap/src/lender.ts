import type { Connection, ServiceBinding } from '@strongroom/ldap-client';
import type { Setup } from './setup.ts';

/** How a step gets a connection to search over. */
export type Lender = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

export function onPool(setup: Setup, binding: ServiceBinding, signal: AbortSignal | undefined): Lender {
  return (work) => setup.directory.withServiceConnection(binding, work, { signal, idempotent: true });
}
