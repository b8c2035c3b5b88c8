import { useMounts } from '../../api/mounts.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';
import { methodOf } from './methods.ts';

/** The ways to log in. */
export default function MethodsPage() {
  const mounts = useMounts('auth');
  return (
    <Page title="Logins" actions={<To to="/mfa">Second factors</To>}>
      <Loaded query={mounts}>
        {(data) => (
          <DataTable
            label="Login methods"
            labelHidden
            rows={data.mounts}
            id={({ path }) => path}
            columns={[
              {
                title: 'Mount',
                main: true,
                cell: ({ path, type }) =>
                  methodOf(type) ? (
                    <To to="/auth/$mount" params={{ mount: path }}>
                      {path}/
                    </To>
                  ) : (
                    <>{path}/</>
                  ),
              },
              { title: 'Kind', cell: ({ type }) => methodOf(type)?.title ?? type },
              { title: 'Description', cell: ({ description }) => description || '–' },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
