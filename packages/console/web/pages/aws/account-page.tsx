import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { FailingRotations, type RotationStatus } from '../../parts/failing-rotations.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { MountNouns, type Noun } from '../../parts/mount-nouns.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { cloudCrumbs } from './cloud-crumbs.tsx';
import { CloudOrphans } from './cloud-orphans.tsx';

const NOUNS: readonly Noun[] = [
  {
    ...{ tab: 'roles', list: 'roles', to: '/aws/$mount/roles/$name', label: 'Roles', create: 'New role' },
    empty: 'A role makes a user, or a session of a role or of a federated user, for everybody who asks.',
  },
  {
    ...{ tab: 'static', list: 'static-roles', to: '/aws/$mount/static/$name', label: 'Static roles', create: 'New static role' },
    empty: 'A static role rotates the access key of a user that stays.',
  },
];

/** An AWS mount: roles, static roles, orphans, and what fails. */
export default function AccountPage() {
  const { mount = '' } = usePlace().params;
  return (
    <Page
      title={mount}
      crumbs={cloudCrumbs(mount).slice(0, 1)}
      actions={
        <To to="/aws/$mount/config" params={{ mount }}>
          Root key
        </To>
      }
    >
      <MountNouns
        at="/aws/$mount"
        mount={mount}
        nouns={NOUNS}
        more={[
          { tab: 'orphans', label: 'Orphans', part: <CloudOrphans mount={mount} /> },
          { tab: 'failing', label: 'Failing', part: <CloudFailing mount={mount} /> },
        ]}
      />
    </Page>
  );
}

type Statuses = Readonly<Record<string, RotationStatus>>;

function CloudFailing({ mount }: { readonly mount: string }) {
  const failing = useRead<{ static_roles: Statuses; root_rotations: Statuses }>(apiPath(mount, 'failing'), { every: 5_000 });
  return (
    <Loaded query={failing}>
      {({ data }) => (
        <FailingRotations
          rows={[
            ...Object.entries(data.root_rotations).map(([key, status]) => ({
              ...{ key: `root ${key}`, what: 'root key', to: '/aws/$mount/config', params: { mount }, status },
            })),
            ...Object.entries(data.static_roles).map(([name, status]) => ({
              ...{ key: name, what: `static role ${name}`, to: '/aws/$mount/static/$name', params: { mount, name }, status },
            })),
          ]}
        />
      )}
    </Loaded>
  );
}
