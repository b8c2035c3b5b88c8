import { useRead } from '../api/queries.ts';
import { DataTable } from './data-table.tsx';
import { Empty } from './empty.tsx';
import { Loaded } from './loaded.tsx';
import { Page } from './page.tsx';
import { To } from './to.tsx';

interface MountsOfTypeProps {
  readonly title: string;
  readonly type: string;
  /** The page of one mount: a pattern with `$mount`. */
  readonly to: string;
  readonly children: string;
}

/** The mounts of one type that the token can reach, as the first page of their area. */
export function MountsOfType({ title, type, to, children }: MountsOfTypeProps) {
  const mounts = useRead<{ secret: Record<string, { type: string; description: string }> }>('sys/internal/ui/mounts');
  return (
    <Page title={title}>
      <Loaded query={mounts}>
        {({ data }) => (
          <DataTable
            label="Mounts"
            rows={Object.entries(data.secret).filter(([, mount]) => mount.type === type)}
            id={([path]) => path}
            empty={<Empty action={<To to="/mounts">Enable one</To>}>{children}</Empty>}
            columns={[
              {
                title: 'Mount',
                main: true,
                cell: ([path]) => (
                  <To to={to} params={{ mount: path.replace(/\/$/, '') }}>
                    {path}
                  </To>
                ),
              },
              { title: 'Description', cell: ([, mount]) => mount.description || '–' },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
