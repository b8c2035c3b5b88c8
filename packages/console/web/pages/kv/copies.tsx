import { ApiError } from '../../api/api-error.ts';
import { useRead } from '../../api/queries.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import type { SecretPart } from './secret.ts';

interface Copy {
  readonly type: string;
  readonly name: string;
  readonly sub_key?: string;
  readonly sync_status: string;
  readonly updated_at: string;
}

const NONE = 'Nothing copies this secret anywhere. Secret sync keeps copies of secrets in other systems.';

/** Where secret sync copies the secret to. */
export default function Copies({ mount, secret }: SecretPart) {
  const query = useRead<{ associated_destinations: Record<string, Copy> }>('sys/sync/associations/destinations', {
    query: { mount: mount.path, secret_name: secret },
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <Empty>{query.error.errors.join(' ') || NONE}</Empty>;
  return (
    <Loaded query={query}>
      {({ data }) => (
        <DataTable
          label="Copies"
          labelHidden
          rows={Object.entries(data.associated_destinations)}
          id={([place]) => place}
          empty={<Empty>{NONE}</Empty>}
          columns={[
            {
              title: 'Destination',
              main: true,
              cell: ([, { type, name, sub_key }]) => (
                <To to="/sync/$type/$name" params={{ type, name }}>
                  {type} / {name}
                  {sub_key !== undefined && ` / ${sub_key}`}
                </To>
              ),
            },
            {
              title: 'State',
              cell: ([, { sync_status }]) => (
                <StateChip mood={sync_status === 'SYNCED' ? 'good' : sync_status.endsWith('ING') ? 'wait' : 'bad'}>
                  {sync_status.toLowerCase().replaceAll('_', ' ')}
                </StateChip>
              ),
            },
            { title: 'Since', cell: ([, { updated_at }]) => <When time={updated_at} /> },
          ]}
        />
      )}
    </Loaded>
  );
}
