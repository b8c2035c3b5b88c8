import { useQuery } from '@tanstack/react-query';
import { send } from '../../api/send.ts';

/** How a server's seal stands, as `sys/seal-status` tells everybody. */
export interface SealStatus {
  readonly type: string;
  readonly initialized: boolean;
  readonly sealed: boolean;
  /** How many shares unseal. */
  readonly t: number;
  /** How many shares there are. */
  readonly n: number;
  readonly progress: number;
  readonly nonce: string;
  /** The seal opens by itself; its shares are for recovery. */
  readonly recovery_seal: boolean;
  /** The keyholders must move the store to the seal of the configuration before it opens. */
  readonly migration?: boolean;
  readonly version: string;
  readonly storage_type: string;
  readonly cluster_name?: string;
  readonly warnings?: readonly string[];
}

/** Milliseconds between two looks: shares come from several people, each at their own browser. */
const WAITING = 2_000;
const OPEN = 30_000;

/** The seal's state, read again often while something is to be done. Undefined until the server has answered. */
export function useSealStatus(): SealStatus | undefined {
  const query = useQuery({
    queryKey: ['sys/seal-status'],
    queryFn: async ({ signal }) => (await send('GET', 'sys/seal-status', { signal, token: null })).body as SealStatus,
    refetchInterval: ({ state: { data } }) => (data && (!data.initialized || data.sealed) ? WAITING : OPEN),
    networkMode: 'always',
  });
  return query.data;
}
