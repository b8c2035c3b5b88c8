import { Text } from '@mantine/core';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { FolderLink } from './kv-page.tsx';
import { kvMountsOf, useMounts } from './kv-mount.ts';

/** The mounts that keep secrets by path. */
export default function KvMountsPage() {
  const mounts = useMounts();
  return (
    <Page title="Secrets">
      <Loaded query={mounts}>
        {({ data }) => (
          <DataTable
            label="Mounts with secrets"
            labelHidden
            rows={kvMountsOf(data)}
            id={({ path }) => path}
            empty={<Empty>Mounts of type kv keep secrets by path. The token reaches none.</Empty>}
            columns={[
              { title: 'Path', cell: (mount) => <FolderLink mount={mount} folder="" />, main: true },
              { title: 'Versions', cell: ({ version }) => (version === 2 ? 'keeps old versions' : 'one value a path') },
              { title: 'Description', cell: ({ description }) => <Text size="sm">{description}</Text> },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
