import { useInfiniteQuery } from '@tanstack/react-query';
import { send, type Call } from '../../api/send.ts';
import type { LeaseRows } from './lease-rows.ts';

/** Pages that are read on by themselves while they hold too few rows: a call reads a bounded number of entries, and may find none. */
const EMPTY_CALLS = 20;

/** Rows of `sys/leases/expiring` or `failing`, 100 at a time. */
export function useLeaseRows(kind: 'expiring' | 'failing', query: NonNullable<Call['query']>, every: number | false = false) {
  return useInfiniteQuery({
    queryKey: [`sys/leases/${kind}`, query],
    initialPageParam: '',
    refetchInterval: every,
    queryFn: async ({ pageParam, signal }): Promise<LeaseRows> => {
      let after = pageParam === '' ? undefined : pageParam;
      for (let call = 1; ; call += 1) {
        const { data } = await send<LeaseRows>('GET', `sys/leases/${kind}`, { query: { ...query, after, limit: 100 }, signal });
        if (data.leases.length > 0 || data.next === undefined || call === EMPTY_CALLS) return data;
        after = data.next;
      }
    },
    getNextPageParam: (last) => last.next,
  });
}
