import { useMounts } from '../../api/mounts.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';

/** The mounts that keep accounts of directories. */
export default function LdapMountsPage() {
  const mounts = useMounts('secret', ['ldap', 'openldap']);
  return (
    <Page title="Directory">
      <Loaded query={mounts}>
        {(data) => (
          <DataTable
            label="Mounts with accounts of a directory"
            labelHidden
            rows={data.mounts}
            id={({ path }) => path}
            empty={
              <Empty action={<To to="/mounts">Mounts</To>}>
                A mount of the type ldap rotates passwords of a directory, makes accounts for a lease, and lends accounts. There is none
                that you can reach.
              </Empty>
            }
            columns={[
              {
                title: 'Mount',
                main: true,
                cell: ({ path }) => (
                  <To to="/ldap/$mount" params={{ mount: path }}>
                    {path}/
                  </To>
                ),
              },
              { title: 'Description', cell: ({ description }) => description || '–' },
              {
                title: 'Library',
                cell: ({ path }) => (
                  <To to="/ldap/$mount/library" params={{ mount: path }}>
                    Lending board
                  </To>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
