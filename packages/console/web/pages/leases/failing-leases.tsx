import { Group, Text } from '@mantine/core';
import { useAct } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { When } from '../../parts/when.tsx';
import { LEASE_READS, leasePath, type LeaseRow } from './lease-rows.ts';
import { LeaseTable } from './lease-table.tsx';
import { useLeaseRows } from './use-lease-rows.ts';

/** The leases whose revocation fails, with the outside system's sentence. Nothing is drawn where there are none. */
export function FailingLeases({ prefix }: { readonly prefix: string }) {
  const rows = useLeaseRows('failing', { prefix: prefix === '' ? undefined : prefix }, 5_000);
  const found = rows.data?.pages.some(({ leases }) => leases.length > 0) ?? false;
  const requeue = useAct<{ requeued: number }>({ method: 'POST', path: leasePath('requeue', prefix), stale: LEASE_READS });
  if (!found && !rows.error) return null;
  return (
    <section aria-label="Leases that cannot be revoked">
      <LeaseTable
        label="Cannot be revoked"
        query={rows}
        empty={null}
        columns={[
          {
            title: 'Why',
            cell: ({ error, state }) => (
              <Text size="sm">{error ?? (state === 'waiting' ? 'Its system did not answer: the circuit breaker is open.' : '–')}</Text>
            ),
          },
          { title: 'Attempts', cell: ({ attempts }) => attempts, end: true },
          { title: 'Next', cell: ({ next_attempt }) => <When time={next_attempt} /> },
          { title: 'Actions', cell: (row) => <RowActions row={row} /> },
        ]}
      />
      {prefix !== '' && (
        <Group mb="lg">
          <ActionButton
            variant="default"
            needs={{ path: `sys/leases/requeue/${prefix}`, need: 'update', sudo: true }}
            loading={requeue.isPending}
            onClick={() => requeue.mutate(undefined)}
          >
            Try all irrevocable ones again now
          </ActionButton>
          <DropPrefix prefix={prefix} />
        </Group>
      )}
    </section>
  );
}

function RowActions({ row }: { readonly row: LeaseRow }) {
  const requeue = useAct({ method: 'POST', path: 'sys/leases/requeue', stale: LEASE_READS });
  return (
    <ActionButton
      variant="default"
      needs={{ path: 'sys/leases/requeue', need: 'update', sudo: true }}
      loading={requeue.isPending}
      onClick={() => requeue.mutate({ lease_id: row.lease_id })}
    >
      Try now
    </ActionButton>
  );
}

function DropPrefix({ prefix }: { readonly prefix: string }) {
  const drop = useAct({ method: 'PUT', path: leasePath('revoke-force', prefix), stale: LEASE_READS });
  return (
    <ConfirmAction
      label="Revoke by force"
      typed={prefix}
      needs={{ path: `sys/leases/revoke-force/${prefix}`, need: 'update', sudo: true }}
      act={() => drop.mutateAsync(undefined)}
    >
      Tries everything below <strong>{prefix}</strong> once more, and drops the leases that fail: their credentials may go on working
      outside, and the server no longer knows them. Databases list such users as orphans.
    </ConfirmAction>
  );
}
