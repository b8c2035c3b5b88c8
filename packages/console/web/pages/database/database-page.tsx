import { Group, Tabs } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { databaseCrumbs, type DatabaseTab } from './crumbs.tsx';
import { DatabaseFailing } from './database-failing.tsx';

interface Noun {
  readonly tab: DatabaseTab;
  /** Its list in the API, and its page. */
  readonly list: string;
  readonly to: string;
  readonly label: string;
  readonly create: string;
  readonly empty: string;
}

const NOUNS: readonly Noun[] = [
  {
    ...{ tab: 'connections', list: 'config', to: '/database/$mount/connections/$name', label: 'Connections', create: 'New connection' },
    empty: 'A connection says where a database is and as whom the server logs in there. Begin with one.',
  },
  {
    ...{ tab: 'roles', list: 'roles', to: '/database/$mount/roles/$name', label: 'Roles', create: 'New role' },
    empty: 'A role makes a user of its own for everybody who asks, and removes it when the lease ends.',
  },
  {
    ...{ tab: 'static', list: 'static-roles', to: '/database/$mount/static/$name', label: 'Static roles', create: 'New static role' },
    empty: 'A static role rotates the password of a user that the database already has.',
  },
];

/** A database mount: connections, roles, static roles, and what fails. */
export default function DatabasePage() {
  const { params, search } = usePlace();
  const mount = params.mount ?? '';
  const go = useGo();
  const tab = search.tab ?? 'connections';
  return (
    <Page title={mount} crumbs={databaseCrumbs(mount).slice(0, 1)}>
      <Tabs
        value={tab}
        onChange={(next) => go('/database/$mount', { mount }, { tab: next ?? undefined }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List aria-label="What the mount has" mb="md">
          {NOUNS.map(({ tab: value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
          <Tabs.Tab value="failing">Failing</Tabs.Tab>
        </Tabs.List>
        {NOUNS.map(({ tab: value, list, to, label, create, empty }) => (
          <Tabs.Panel key={value} value={value}>
            <Group justify="flex-end" mb="xs">
              <ActionButton onClick={() => go('/database/$mount/edit/$noun', { mount, noun: value })}>{create}</ActionButton>
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
        <Tabs.Panel value="failing">
          <DatabaseFailing mount={mount} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
