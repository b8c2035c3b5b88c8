import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../api/send.ts';

export interface Bucket {
  readonly from: string;
  readonly secrets: number;
  readonly tokens: number;
}

interface Counted {
  readonly buckets: readonly Bucket[];
  readonly next?: string;
}

/** Answers that are added before the page asks whether to go on: two million leases. */
const CALLS = 40;

export interface Histogram {
  readonly buckets: readonly Bucket[];
  /** The bars lack what was not read. */
  readonly partial: boolean;
}

/**
 * Leases by their ends. The server counts a bounded number a call, and the answers are added: while that goes on, `soFar` has what was counted.
 */
export function useHistogram(from: number, to: number, buckets: number, prefix: string) {
  const [soFar, setSoFar] = useState<readonly Bucket[]>();
  const query = useQuery({
    queryKey: ['sys/leases/histogram', from, to, buckets, prefix],
    staleTime: 10_000,
    refetchInterval: 30_000,
    queryFn: async ({ signal }): Promise<Histogram> => {
      let sum: readonly Bucket[] = [];
      let after: string | undefined;
      for (let call = 0; call < CALLS; call += 1) {
        const asked = { from: iso(from), to: iso(to), buckets, prefix: prefix === '' ? undefined : prefix, after };
        const { data } = await send<Counted>('GET', 'sys/leases/histogram', { query: asked, signal });
        sum = data.buckets.map((bucket, index) => ({
          from: bucket.from,
          secrets: bucket.secrets + (sum[index]?.secrets ?? 0),
          tokens: bucket.tokens + (sum[index]?.tokens ?? 0),
        }));
        after = data.next;
        if (after === undefined) break;
        setSoFar(sum);
      }
      setSoFar(undefined);
      return { buckets: sum, partial: after !== undefined };
    },
  });
  return { ...query, soFar };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
