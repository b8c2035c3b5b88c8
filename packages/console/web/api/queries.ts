import { QueryClient, useInfiniteQuery, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { send, type Answer, type Call, type Method } from './send.ts';

/** Answers that say that trying again at once cannot help: everything the server said. */
const final = (error: unknown): boolean => error instanceof ApiError && error.status !== 0;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5_000, refetchOnWindowFocus: true, retry: (count, error) => !final(error) && count < 2 },
    mutations: { retry: false },
  },
});

export interface ReadOptions {
  readonly query?: Call['query'];
  readonly method?: 'GET' | 'LIST' | 'POST';
  readonly body?: unknown;
  readonly enabled?: boolean;
  /** Milliseconds between two reads while the page is open and seen. */
  readonly every?: number | false;
  /** Needs no token: read before login too. */
  readonly open?: boolean;
  /** The answer holds secrets: it is forgotten as soon as no page shows it. */
  readonly secret?: boolean;
}

/** Reads a path; the key is the path, so that `stale` of `useAct` finds it. */
export function useRead<T = Record<string, unknown>>(path: string, options: ReadOptions = {}): UseQueryResult<Answer<T>> {
  const { query, method = 'GET', body, enabled = true, every = false, secret = false, open = false } = options;
  return useQuery({
    queryKey: [path, method, query ?? {}, body ?? null],
    queryFn: ({ signal }) => send<T>(method, path, { query, body, signal, ...(open ? { token: null } : {}) }),
    enabled,
    refetchInterval: every,
    // While a login covers the page, nothing is read but what the login needs.
    ...(open ? { networkMode: 'always' as const } : {}),
    ...(secret ? { gcTime: 0, staleTime: 0 } : {}),
  });
}

export interface NamesPage {
  readonly keys: readonly string[];
  readonly keyInfo: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const PAGE = 500;

/**
 * The names below a path, a page at a time. An empty list is an answer, not an error: the server's 404 without a sentence is one.
 */
export function useNames(path: string, options: { readonly enabled?: boolean; readonly prefix?: string } = {}) {
  return useInfiniteQuery({
    queryKey: [path, 'LIST', options.prefix ?? ''],
    enabled: options.enabled ?? true,
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }): Promise<NamesPage> => {
      try {
        const { data } = await send<{ keys?: string[]; key_info?: Record<string, Record<string, unknown>> }>('LIST', path, {
          query: { limit: PAGE, after: pageParam === '' ? undefined : pageParam },
          signal,
        });
        // A server that knows no pages answers all names, each time.
        if (pageParam !== '' && data.keys?.includes(pageParam)) return { keys: [], keyInfo: {} };
        return { keys: data.keys ?? [], keyInfo: data.key_info ?? {} };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404 && error.errors.length === 0) return { keys: [], keyInfo: {} };
        throw error;
      }
    },
    getNextPageParam: (last) => (last.keys.length !== PAGE ? undefined : last.keys.at(-1)),
  });
}

/** What a write does, and the paths whose reads it makes stale: each of them, and everything below it. */
export interface Act<T> {
  readonly method: Exclude<Method, 'GET' | 'LIST' | 'SCAN'>;
  readonly path: string;
  readonly stale?: readonly string[];
  readonly wrapTtl?: string;
  readonly done?: (answer: Answer<T>) => void;
}

/** A write. `mutate(body)` sends it; errors are `ApiError`s. */
export function useAct<T = Record<string, unknown>>(act: Act<T>) {
  const client = useQueryClient();
  return useMutation<Answer<T>, ApiError, unknown>({
    mutationFn: (body) => send<T>(act.method, act.path, { body: body ?? undefined, wrapTtl: act.wrapTtl }),
    onSuccess: async (answer) => {
      await makeStale(client, act.stale ?? []);
      act.done?.(answer);
    },
  });
}

/** Reads again what is shown of these paths and what lies below them. */
export async function makeStale(client: QueryClient, paths: readonly string[]): Promise<void> {
  await client.invalidateQueries({
    predicate: ({ queryKey: [key] }) =>
      typeof key === 'string' && paths.some((path) => key === path || key.startsWith(path.endsWith('/') ? path : `${path}/`)),
  });
}
