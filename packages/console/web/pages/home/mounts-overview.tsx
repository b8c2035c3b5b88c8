import { useMounts } from '../../api/mounts.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';

/** The home page of a server that does not tell what needs a person: what the token can reach. */
export function MountsOverview() {
  const mounts = useMounts('secret');
  return (
    <Page title="Home">
      <Loaded query={mounts}>
        {({ mounts: rows }) => (
          <DataTable
            label="Secrets engines"
            rows={rows}
            id={({ path }) => path}
            empty={<Empty>This token reaches no secrets engine.</Empty>}
            columns={[
              { title: 'Path', main: true, cell: ({ path }) => <To to="/engine/$mount" params={{ mount: path }}>{`${path}/`}</To> },
              { title: 'Type', cell: ({ type }) => type },
              { title: 'Description', cell: ({ description }) => description },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
