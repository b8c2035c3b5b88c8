import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useStored } from '../../api/use-stored.ts';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { To } from '../../parts/to.tsx';
import { inWords } from '../../parts/words.ts';
import { shownDetails } from './shown-details.ts';

/** One GitHub App: its id and its key, and what GitHub says of it. */
export default function AppPage() {
  const { name = '' } = usePlace().params;
  const go = useGo();
  const place = `sys/sync/github-apps/${name}`;
  const path = apiPath(place);
  const stored = useStored(path);
  return (
    <Page
      title={name}
      crumbs={[
        <To key="all" to="/sync">
          Sync
        </To>,
        <To key="apps" to="/sync/apps">
          GitHub Apps
        </To>,
      ]}
      actions={
        stored.data?.data && (
          <DeleteThing path={place} name={name} label="Delete the app" stale={['sys/sync/github-apps']} done={() => go('/sync/apps')}>
            Destinations that act as it can copy nothing any more.
          </DeleteThing>
        )
      }
    >
      <Loaded query={stored}>
        {({ data }) => (
          <>
            {data ? (
              <Facts
                facts={Object.entries(shownDetails(data)).map(([label, value]) => ({ label: inWords(label), value: textOf(value) }))}
              />
            ) : (
              <Text mb="sm" size="sm">
                There is no app “{name}” yet. Its key is tried at GitHub before it is stored.
              </Text>
            )}
            <Settings
              path={path}
              needs={{ path: place, need: ['update', 'create'] }}
              stored={data && shownDetails(data)}
              first={['app_id', 'private_key']}
              stale={['sys/sync/github-apps', path]}
              submit={data ? 'Save' : 'Store the app'}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function textOf(value: unknown): string {
  if (value === true) return 'yes';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
