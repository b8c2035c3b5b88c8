import { apiPath } from '../../api/api-path.ts';

/** A lease as `sys/leases/expiring` and `sys/leases/failing` answer it. */
export interface LeaseRow {
  readonly lease_id: string;
  readonly type: 'secret' | 'token';
  readonly state: 'live' | 'revoking' | 'waiting' | 'irrevocable' | 'damaged';
  readonly path: string;
  readonly issue_time: string;
  readonly expire_time: string;
  readonly last_renewal: string | null;
  readonly renewable: boolean;
  readonly accessor: string | null;
  readonly next_attempt: string | null;
  readonly attempts: number;
  readonly error: string | null;
}

export interface LeaseRows {
  readonly leases: readonly LeaseRow[];
  readonly next?: string;
}

/** Reads that a revocation, a renewal or a requeue makes stale. */
export const LEASE_READS = ['sys/leases'];

/** `sys/leases/<verb>/<prefix>`, encoded. */
export function leasePath(verb: string, id: string): string {
  return apiPath('sys/leases', verb, id);
}

/** The pattern of a lease's page, which takes its id as it stands. */
export const LEASE_PAGE = '/leases/$first/$';

/** The parameters of `LEASE_PAGE`. */
export function leaseParams(id: string): { readonly first: string; readonly rest: string } {
  const slash = id.indexOf('/');
  return slash < 0 ? { first: id, rest: '' } : { first: id.slice(0, slash), rest: id.slice(slash + 1) };
}
