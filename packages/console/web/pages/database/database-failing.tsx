import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { FailingRotations, type FailingRow, type RotationStatus } from '../../parts/failing-rotations.tsx';
import { Loaded } from '../../parts/loaded.tsx';

interface Failing {
  readonly static_roles: Readonly<Record<string, RotationStatus>>;
  readonly root_rotations: Readonly<Record<string, RotationStatus>>;
  readonly connections: Readonly<Record<string, { readonly reason: string }>>;
}

/** What fails on a database mount: connections first, since they are the cause of the rest. */
export function DatabaseFailing({ mount }: { readonly mount: string }) {
  const failing = useRead<Failing>(apiPath(mount, 'failing'), { every: 5_000 });
  return <Loaded query={failing}>{({ data }) => <FailingRotations rows={rowsOf(mount, data)} />}</Loaded>;
}

function rowsOf(mount: string, { connections, root_rotations, static_roles }: Failing): FailingRow[] {
  const connection = (name: string) => ({ to: '/database/$mount/connections/$name', params: { mount, name } });
  return [
    ...Object.entries(connections).map(([name, { reason }]) => ({
      ...connection(name),
      key: `connection ${name}`,
      what: `connection ${name}`,
      status: { state: 'not in use', attempts: 0, next_attempt: null, last_error: { message: reason, time: '' } },
    })),
    ...Object.entries(root_rotations).map(([name, status]) => ({
      ...connection(name),
      key: `root ${name}`,
      what: `root user of ${name}`,
      status,
    })),
    ...Object.entries(static_roles).map(([name, status]) => ({
      key: `static ${name}`,
      what: `static role ${name}`,
      to: '/database/$mount/static/$name',
      params: { mount, name },
      status,
    })),
  ];
}
