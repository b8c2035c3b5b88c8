import { useQuery } from '@tanstack/react-query';
import { send } from '../../api/send.ts';

export interface Totals {
  readonly leases: number;
  readonly failing: number;
  readonly irrevocable: number;
  /** There are more leases than were counted. */
  readonly more: boolean;
}

interface Part {
  readonly leases: number;
  readonly failing: number;
  readonly irrevocable: number;
  readonly next?: string;
}

/** Two million leases: what is beyond is “more than”. */
const CALLS = 40;

/** How many leases there are below a prefix, and how many of them cannot be revoked. */
export function useTotals(prefix: string, every: number | false) {
  return useQuery({
    queryKey: ['sys/leases/totals', prefix],
    refetchInterval: every,
    queryFn: async ({ signal }): Promise<Totals> => {
      let sum: Totals = { leases: 0, failing: 0, irrevocable: 0, more: false };
      let after: string | undefined;
      for (let call = 0; call < CALLS; call += 1) {
        const query = { prefix: prefix === '' ? undefined : prefix, after };
        const { data } = await send<Part>('GET', 'sys/leases/totals', { query, signal });
        sum = {
          leases: sum.leases + data.leases,
          failing: sum.failing + data.failing,
          irrevocable: sum.irrevocable + data.irrevocable,
          more: data.next !== undefined,
        };
        after = data.next;
        if (after === undefined) break;
      }
      return sum;
    },
  });
}
