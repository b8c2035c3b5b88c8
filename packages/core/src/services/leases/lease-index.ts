import type { LeaseRecord } from './lease-record.ts';

/** Leases by the token they were issued to. */
export const BY_TOKEN = 'token-lease/';
/** The leases that operators must look after. */
export const IRREVOCABLE = 'irrevocable/';
/** By mount, the leases whose revocation failed or was postponed. */
export const WAITING = 'waiting-lease/';

/** The keys under which a lease is found besides its id and its end. */
export function leaseMarks(id: string, { token, waiting, irrevocable, mount }: LeaseRecord): string[] {
  const marks: string[] = [];
  if (token !== '') marks.push(ofTokenPrefix(token) + id);
  if (waiting) marks.push(waitingPrefix(mount) + id);
  if (irrevocable) marks.push(IRREVOCABLE + id);
  return marks;
}

export function ofTokenPrefix(digest: string): string {
  return `${BY_TOKEN}${digest}/`;
}

export function waitingPrefix(mount: string): string {
  return `${WAITING}${mount}/`;
}
