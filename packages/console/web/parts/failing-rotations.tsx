import { Text } from '@mantine/core';
import { DataTable } from './data-table.tsx';
import { Empty } from './empty.tsx';
import { StateChip } from './state-chip.tsx';
import { To } from './to.tsx';
import { When } from './when.tsx';

/** How a rotation stands, as `<mount>/failing` answers it. */
export interface RotationStatus {
  readonly state: string;
  readonly attempts: number;
  readonly next_attempt: string | null;
  readonly last_success: string | null;
  readonly last_error: { readonly message: string; readonly time: string } | null;
  readonly managed_by?: string;
}

export interface FailingRow {
  readonly key: string;
  /** `static role report`. */
  readonly what: string;
  readonly to: string;
  readonly params: Readonly<Record<string, string>>;
  readonly status: Pick<RotationStatus, 'state' | 'last_error' | 'next_attempt' | 'attempts' | 'managed_by'>;
}

/** What does not work on a mount, each with the sentence of the outside system. */
export function FailingRotations({ rows }: { readonly rows: readonly FailingRow[] }) {
  return (
    <DataTable
      label="What fails"
      labelHidden
      rows={rows}
      id={({ key }) => key}
      empty={<Empty>Everything on this mount works.</Empty>}
      columns={[
        {
          title: 'What',
          main: true,
          cell: ({ what, to, params }) => (
            <To to={to} params={params}>
              {what}
            </To>
          ),
        },
        { title: 'State', cell: ({ status }) => <StateChip mood="bad">{status.state.replaceAll('_', ' ')}</StateChip> },
        {
          title: 'Why',
          cell: ({ status }) => (
            <Text size="sm">
              {status.last_error?.message ?? (status.managed_by === undefined ? '–' : `managed by ${status.managed_by}`)}
            </Text>
          ),
        },
        { title: 'Tries', cell: ({ status }) => status.attempts, end: true },
        { title: 'Next', cell: ({ status }) => <When time={status.next_attempt} /> },
      ]}
    />
  );
}
