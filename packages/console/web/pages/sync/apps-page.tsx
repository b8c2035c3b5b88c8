import { Text } from '@mantine/core';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { NewByName } from '../../parts/new-by-name.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';

/** The GitHub Apps that destinations act as. */
export default function AppsPage() {
  const go = useGo();
  return (
    <Page
      title="GitHub Apps"
      crumbs={[
        <To key="all" to="/sync">
          Sync
        </To>,
      ]}
    >
      <Text size="sm" c="dimmed" mb="md">
        Destinations of GitHub can act as an app in place of a personal access token. Several of them share one app.
      </Text>
      <NewByName
        label="Name of the new app"
        button="New app"
        needs={(name) => ({ path: `sys/sync/github-apps/${name}`, need: ['create', 'update'] })}
        onName={(name) => go('/sync/apps/$name', { name })}
      />
      <NamesTable
        path="sys/sync/github-apps"
        label="GitHub Apps"
        row={(name) => (
          <To to="/sync/apps/$name" params={{ name }}>
            {name}
          </To>
        )}
        empty={<Empty>No app is stored yet.</Empty>}
      />
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom list sys/sync/github-apps' }]} />
    </Page>
  );
}
