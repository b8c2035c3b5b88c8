import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { databaseCrumbs } from './crumbs.tsx';

interface Removed {
  readonly removed: readonly string[];
  readonly gone: readonly string[];
  readonly pending: Readonly<Record<string, string>>;
}

/** Users that this mount made in a database and that nothing keeps any more. */
export default function OrphansPage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const path = apiPath(mount, 'orphans', name);
  const orphans = useRead<{ usernames: readonly string[]; templates: readonly string[] }>(path);
  const remove = useAct<Removed>({ method: 'POST', path, stale: [path] });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (user: string): void =>
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(user)) next.add(user);
      return next;
    });
  const done = remove.data?.data;
  return (
    <Page
      title={`Orphans of ${name}`}
      crumbs={[
        ...databaseCrumbs(mount, 'connections'),
        <To key="connection" to="/database/$mount/connections/$name" params={{ mount, name }}>
          {name}
        </To>,
      ]}
    >
      <Loaded query={orphans}>
        {({ data, warnings }) => (
          <Stack>
            {warnings.map((warning) => (
              <Text key={warning} size="sm">
                {warning}
              </Text>
            ))}
            <DataTable
              label="Orphans"
              labelHidden
              rows={data.usernames}
              id={(user) => user}
              empty={<Empty>No user was left behind: everything that this mount made has a lease, a role or a connection.</Empty>}
              columns={[
                {
                  title: 'User',
                  main: true,
                  cell: (user) => <Checkbox label={user} checked={chosen.has(user)} onChange={() => toggle(user)} />,
                },
              ]}
            />
            {data.usernames.length > 0 && (
              <Group>
                <ConfirmAction
                  label={chosen.size === 0 ? 'Remove those chosen' : `Remove ${chosen.size}`}
                  disabled={chosen.size === 0}
                  needs={{ path: `${mount}/orphans/${name}`, need: 'update', sudo: true }}
                  act={async () => {
                    await remove.mutateAsync({ usernames: [...chosen] });
                    setChosen(new Set());
                  }}
                >
                  They are dropped in the database: {[...chosen].join(', ')}.
                </ConfirmAction>
              </Group>
            )}
            {done && (
              <Text role="status" size="sm">
                {`${done.removed.length} removed, ${done.gone.length} were gone already.`}
                {Object.entries(done.pending).map(([user, why]) => ` ${user}: ${why}.`)}
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}
