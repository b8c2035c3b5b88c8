import { Stack } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../parts/place.ts';
import { RotationChip, type RotationStatus } from '../../parts/rotation-state.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { LdapFrame } from './ldap-frame.tsx';

type Kind = 'static_roles' | 'library_accounts' | 'root';

interface Row {
  readonly kind: Kind;
  readonly name: string;
  readonly status: RotationStatus;
}

/** Everything of the mount whose password cannot be changed, with the directory's own words. */
export default function FailingPage() {
  const { mount = '' } = usePlace().params;
  const path = apiPath(mount, 'failing');
  const failing = useRead<{
    static_roles?: Record<string, RotationStatus>;
    library_accounts?: Record<string, RotationStatus>;
    root?: RotationStatus;
  }>(path, {
    every: 5_000,
  });
  return (
    <LdapFrame title="Failing" section="failing">
      <Loaded query={failing}>
        {({ data }) => {
          const rows: Row[] = [
            ...(data.root ? [{ kind: 'root' as const, name: 'binddn', status: data.root }] : []),
            ...Object.entries(data.static_roles ?? {}).map(([name, status]) => ({ kind: 'static_roles' as const, name, status })),
            ...Object.entries(data.library_accounts ?? {}).map(([name, status]) => ({ kind: 'library_accounts' as const, name, status })),
          ];
          return (
            <DataTable
              label="What fails"
              labelHidden
              rows={rows}
              id={({ kind, name }) => `${kind}/${name}`}
              empty={<Empty>Every password of this mount is as it should be.</Empty>}
              columns={[
                { title: 'What', main: true, cell: (row) => <Thing mount={mount} row={row} /> },
                { title: 'State', cell: ({ status }) => <RotationChip status={status} /> },
                { title: 'The directory said', cell: ({ status }) => status.last_error?.message ?? '–' },
                { title: 'Tries', cell: ({ status }) => status.attempts },
                { title: 'Next', cell: ({ status }) => <When time={status.next_attempt} /> },
                { title: 'Action', end: true, cell: (row) => <TryNow mount={mount} row={row} stale={path} /> },
              ]}
            />
          );
        }}
      </Loaded>
    </LdapFrame>
  );
}

function Thing({ mount, row: { kind, name } }: { readonly mount: string; readonly row: Row }) {
  if (kind === 'root') {
    return (
      <To to="/ldap/$mount/config" params={{ mount }}>
        The managing account
      </To>
    );
  }
  if (kind === 'library_accounts') return <Stack gap={0}>library account {name}</Stack>;
  return (
    <To to="/ldap/$mount/static/$name" params={{ mount, name }}>
      {name}
    </To>
  );
}

function TryNow({ mount, row: { kind, name }, stale }: { readonly mount: string; readonly row: Row; readonly stale: string }) {
  if (kind === 'library_accounts') return <>by itself</>;
  const right = kind === 'root' ? `${mount}/rotate-root` : `${mount}/rotate-role/${name}`;
  const path = kind === 'root' ? apiPath(mount, 'rotate-root') : apiPath(mount, 'rotate-role', name);
  return (
    <ActionButton
      variant="default"
      needs={{ path: right, need: 'update' }}
      onClick={() =>
        void send('POST', path)
          .catch(() => undefined)
          .then(async () => makeStale(queryClient, [stale]))
      }
    >
      {`Try ${name} now`}
    </ActionButton>
  );
}
