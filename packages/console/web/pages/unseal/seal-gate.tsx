import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Stowed } from '../../parts/stowed.tsx';
import type { NewKeys } from './new-keys.ts';
import { useSealStatus } from './seal-status.ts';

const SealNeed = lazy(() => import('./seal-need.tsx'));

/** While the server has no keys or is sealed, what it needs is shown instead of the page, which stays as it is and comes back. */
export function SealGate({ children }: { readonly children: ReactNode }) {
  const status = useSealStatus();
  const client = useQueryClient();
  const [keys, setKeys] = useState<NewKeys>();
  const made = (next: NewKeys): void => {
    setKeys(next);
    void client.invalidateQueries({ queryKey: ['sys/seal-status'] });
  };
  const needed = status !== undefined && (keys !== undefined || !status.initialized || status.sealed);
  return (
    <>
      {needed && (
        <Suspense fallback={null}>
          <SealNeed status={status} keys={keys} made={made} stored={() => setKeys(undefined)} />
        </Suspense>
      )}
      <Stowed away={needed}>{children}</Stowed>
    </>
  );
}
