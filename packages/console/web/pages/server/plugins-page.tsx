import { NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerFrame } from './server-frame.tsx';

interface Plugin {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly builtin: boolean;
  /** Why it cannot be used. */
  readonly refused?: string;
}

const ALL = 'all';

/** The catalogue: what can be mounted and used here, and what cannot, with the reason. */
export default function PluginsPage() {
  const catalogue = useRead<{ detailed: readonly Plugin[] }>('sys/plugins/catalog');
  const [kind, setKind] = useState(ALL);
  return (
    <ServerFrame title="Plugins" place="/server/plugins">
      <Loaded query={catalogue}>
        {({ data: { detailed } }) => {
          const kinds = [...new Set(detailed.map(({ type }) => type))];
          const refused = detailed.filter((plugin) => plugin.refused !== undefined);
          const usable = detailed.filter((plugin) => plugin.refused === undefined && (kind === ALL || plugin.type === kind));
          return (
            <Stack gap="xl">
              {refused.length > 0 && (
                <DataTable
                  label={`Cannot be used (${refused.length})`}
                  rows={refused}
                  id={({ type, name }) => `${type}/${name}`}
                  columns={[
                    { title: 'Name', main: true, cell: ({ name }) => name },
                    { title: 'Kind', cell: ({ type }) => type },
                    { title: 'Why', cell: (plugin) => <Text size="sm">{plugin.refused}</Text> },
                  ]}
                />
              )}
              <Stack gap="sm">
                <NativeSelect
                  label="Kind"
                  data={[{ value: ALL, label: 'All kinds' }, ...kinds]}
                  value={kind}
                  onChange={({ currentTarget }) => setKind(currentTarget.value)}
                  w={220}
                />
                <DataTable
                  label={`Usable (${usable.length})`}
                  rows={usable}
                  id={({ type, name }) => `${type}/${name}`}
                  empty={<Empty>No plugin of this kind is installed.</Empty>}
                  columns={[
                    { title: 'Name', main: true, cell: ({ name }) => name },
                    { title: 'Kind', cell: ({ type }) => type },
                    { title: 'Version', cell: ({ version }) => version },
                    { title: 'From', cell: ({ builtin }) => (builtin ? 'the server' : 'your configuration') },
                  ]}
                />
              </Stack>
            </Stack>
          );
        }}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom plugin list -detailed' },
          { with: 'curl', command: 'curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/sys/plugins/catalog' },
        ]}
      />
    </ServerFrame>
  );
}
