import { Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateChip, type Mood } from '../../parts/state-chip.tsx';
import { When } from '../../parts/when.tsx';
import { ServerFrame } from './server-frame.tsx';

interface Node {
  readonly id: string;
  readonly self: boolean;
  readonly hostname: string;
  readonly api_address: string;
  readonly version: string;
  readonly state: 'active' | 'sealed' | 'lost';
  readonly started: string;
  readonly unsealed_since: string;
  readonly last_seen: string;
  readonly requests: number;
  readonly due_work: number;
}

const MOODS: Readonly<Record<Node['state'], Mood>> = { active: 'good', sealed: 'warn', lost: 'bad' };

/** The servers that share the store. */
export default function NodesPage() {
  const nodes = useRead<{ nodes: readonly Node[] }>('sys/nodes', { every: 10_000 });
  return (
    <ServerFrame title="Nodes" place="/server/nodes">
      <Loaded query={nodes}>
        {({ data }) => (
          <DataTable
            label="Servers of this store"
            rows={data.nodes}
            id={({ id }) => id}
            columns={[
              {
                title: 'Server',
                main: true,
                cell: ({ hostname, api_address, self }) => (
                  <>
                    {hostname}
                    {self && ' (answers this page)'}
                    <Text size="xs" c="dimmed">
                      {api_address || 'no address: set api_addr'}
                    </Text>
                  </>
                ),
              },
              { title: 'State', cell: ({ state }) => <StateChip mood={MOODS[state]}>{state}</StateChip> },
              { title: 'Last seen', cell: ({ last_seen }) => <When time={last_seen} /> },
              { title: 'Unsealed', cell: ({ unsealed_since }) => <When time={unsealed_since} /> },
              { title: 'Started', cell: ({ started }) => <When time={started} /> },
              { title: 'Version', cell: ({ version }) => version },
              { title: 'Requests', end: true, cell: ({ requests }) => requests },
              { title: 'Due work', end: true, cell: ({ due_work }) => due_work },
            ]}
          />
        )}
      </Loaded>
      <Text size="sm" c="dimmed" mt="md">
        Each server writes that it is there every ten seconds while it is unsealed. One that was sealed or lost is listed for a day.
      </Text>
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom read sys/nodes' },
          { with: 'curl', command: 'curl --header "X-Vault-Token: $STRONGROOM_TOKEN" "$STRONGROOM_ADDR/v1/sys/nodes"' },
        ]}
      />
    </ServerFrame>
  );
}
