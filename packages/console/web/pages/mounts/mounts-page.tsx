import { Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';

interface Mounted {
  readonly type: string;
  readonly description: string;
  readonly running_plugin_version?: string;
}

/** All mounts that the token can reach. */
export default function MountsPage() {
  const mounts = useRead<{ secret: Record<string, Mounted>; auth: Record<string, Mounted> }>('sys/internal/ui/mounts');
  return (
    <Page title="Mounts">
      <Loaded query={mounts}>
        {({ data }) => (
          <>
            <DataTable
              label="Secrets engines"
              rows={Object.entries(data.secret)}
              id={([path]) => path}
              columns={[
                { title: 'Path', cell: ([path]) => path, main: true },
                { title: 'Type', cell: ([, mount]) => mount.type },
                { title: 'Description', cell: ([, mount]) => <Text size="sm">{mount.description}</Text> },
              ]}
            />
            <DataTable
              label="Login methods"
              rows={Object.entries(data.auth)}
              id={([path]) => path}
              columns={[
                { title: 'Path', cell: ([path]) => path, main: true },
                { title: 'Type', cell: ([, mount]) => mount.type },
                { title: 'Description', cell: ([, mount]) => <Text size="sm">{mount.description}</Text> },
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}
