import { Group, Tabs } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FailingRotations, type RotationStatus } from '../../parts/failing-rotations.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { cloudCrumbs } from './cloud-crumbs.tsx';
import { CloudOrphans } from './cloud-orphans.tsx';

const NOUNS = [
  {
    ...{ tab: 'roles', list: 'roles', to: '/aws/$mount/roles/$name', label: 'Roles', create: 'New role' },
    empty: 'A role makes a user, or a session of a role or of a federated user, for everybody who asks.',
  },
  {
    ...{ tab: 'static', list: 'static-roles', to: '/aws/$mount/static/$name', label: 'Static roles', create: 'New static role' },
    empty: 'A static role rotates the access key of a user that stays.',
  },
] as const;

/** An AWS mount: roles, static roles, orphans, and what fails. */
export default function AccountPage() {
  const { params, search } = usePlace();
  const mount = params.mount ?? '';
  const go = useGo();
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
      <Tabs
        value={search.tab ?? 'roles'}
        onChange={(tab) => go('/aws/$mount', { mount }, { tab: tab ?? undefined }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List aria-label="What the mount has" mb="md">
          <Tabs.Tab value="roles">Roles</Tabs.Tab>
          <Tabs.Tab value="static">Static roles</Tabs.Tab>
          <Tabs.Tab value="orphans">Orphans</Tabs.Tab>
          <Tabs.Tab value="failing">Failing</Tabs.Tab>
        </Tabs.List>
        {NOUNS.map(({ tab, list, to, label, create, empty }) => (
          <Tabs.Panel key={tab} value={tab}>
            <Group justify="flex-end" mb="xs">
              <ActionButton onClick={() => go('/aws/$mount/edit/$noun', { mount, noun: tab })}>{create}</ActionButton>
            </Group>
            <NamesTable
              path={apiPath(mount, list)}
              label={label}
              empty={<Empty>{empty}</Empty>}
              row={(name) => (
                <To to={to} params={{ mount, name }}>
                  {name}
                </To>
              )}
            />
          </Tabs.Panel>
        ))}
        <Tabs.Panel value="orphans">
          <CloudOrphans mount={mount} />
        </Tabs.Panel>
        <Tabs.Panel value="failing">
          <CloudFailing mount={mount} />
        </Tabs.Panel>
      </Tabs>
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
