import { Button, Code, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateChip, type Mood } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { LEASE_PAGE, leaseParams, type LeaseRow } from './lease-rows.ts';
import type { useLeaseRows } from './use-lease-rows.ts';

interface LeaseTableProps {
  readonly label: string;
  readonly query: ReturnType<typeof useLeaseRows>;
  readonly empty: ReactNode;
  /** What is shown beside path and state. */
  readonly columns: readonly Column<LeaseRow>[];
}

const MOODS: Record<LeaseRow['state'], Mood> = { live: 'good', revoking: 'wait', waiting: 'warn', irrevocable: 'bad', damaged: 'bad' };

const WORDS: Record<LeaseRow['state'], string> = {
  live: 'live',
  revoking: 'ending',
  waiting: 'revocation fails',
  irrevocable: 'irrevocable',
  damaged: 'damaged',
};

export function LeaseState({ state }: { readonly state: LeaseRow['state'] }) {
  return <StateChip mood={MOODS[state]}>{WORDS[state]}</StateChip>;
}

export const endsColumn: Column<LeaseRow> = { title: 'Ends', cell: ({ expire_time }) => <When time={expire_time} /> };
export const issuedColumn: Column<LeaseRow> = { title: 'Issued', cell: ({ issue_time }) => <When time={issue_time} /> };
export const accessorColumn: Column<LeaseRow> = {
  title: 'Issued to',
  cell: ({ accessor }) => (accessor === null ? '–' : <Code title="The accessor of the token">{accessor}</Code>),
};

/** Leases, a page at a time. */
export function LeaseTable({ label, query, empty, columns }: LeaseTableProps) {
  return (
    <Loaded query={query}>
      {({ pages }) => (
        <>
          <DataTable
            label={label}
            rows={pages.flatMap(({ leases }) => leases)}
            id={({ lease_id }) => lease_id}
            empty={empty}
            columns={[
              { title: 'Lease', main: true, cell: ({ lease_id, path }) => <LeaseLink id={lease_id} path={path} /> },
              { title: 'State', cell: ({ state }) => <LeaseState state={state} /> },
              ...columns,
            ]}
          />
          {query.hasNextPage && (
            <Button size="xs" variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              More
            </Button>
          )}
        </>
      )}
    </Loaded>
  );
}

/** The path, and as much of the id as tells two leases apart. */
function LeaseLink({ id, path }: { readonly id: string; readonly path: string }) {
  const own = id.startsWith(`${path}/`) ? id.slice(path.length + 1) : id;
  return (
    <To to={LEASE_PAGE} params={leaseParams(id)}>
      {path}
      <Text span size="xs" c="dimmed" ff="monospace">
        {`/${own.length > 12 ? `${own.slice(0, 8)}…` : own}`}
      </Text>
    </To>
  );
}
