import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { saysLacking } from '../api/own-routes.ts';
import { ServerError } from './server-error.tsx';

interface Query<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
}

/**
 * What a query brought. While it waits: a shape. When it fails: the server's sentence; data that was read before stays on the page. Nothing where the server
 * is another one that has no such path.
 */
export function Loaded<T>({ query, children }: { readonly query: Query<T>; readonly children: (data: T) => ReactNode }) {
  const failed = query.error instanceof ApiError ? query.error : undefined;
  if (query.error && !failed) throw query.error;
  if (failed && saysLacking(failed)) return null;
  return (
    <>
      {failed && <ServerError error={failed} again={() => void query.refetch()} />}
      {query.data !== undefined && children(query.data)}
      {query.isPending && !failed && (
        <Stack gap="xs" aria-busy="true" role="status" aria-label="Loading">
          <Skeleton height={20} width="40%" />
          <Skeleton height={16} />
          <Skeleton height={16} />
        </Stack>
      )}
    </>
  );
}
