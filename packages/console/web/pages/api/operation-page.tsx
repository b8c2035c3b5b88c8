import { Badge, Group, Stack, Text } from '@mantine/core';
import { useApiDocument, type Verb } from '../../api/openapi.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { Unreached } from '../../parts/unreached.tsx';
import ApiPage from './api-page.tsx';
import { templateFromUrl } from './template-in-urls.ts';
import { TryCall } from './try-call.tsx';

const VERBS: readonly Verb[] = ['get', 'post', 'patch', 'delete'];

/** One path of the API: each of its calls, with a form that makes it. Without a path, all of them. */
export default function OperationPage() {
  const rest = templateFromUrl(usePlace().params.rest ?? '');
  return rest === '' ? <ApiPage /> : <Operations rest={rest} />;
}

function Operations({ rest }: { readonly rest: string }) {
  const document = useApiDocument();
  return (
    <Page title={rest} crumbs={[<To to="/api">API</To>]}>
      <Loaded query={document}>
        {(found) => {
          const item = found.paths[`/${rest}`];
          if (!item) return <Unreached path={rest}>The API has no path {rest}, or the token does not reach it.</Unreached>;
          return (
            <Stack gap="xl">
              <Group gap="xs">
                <Text size="sm" c="dimmed">
                  {item.description}
                </Text>
                {item['x-vault-sudo'] && <Badge variant="light">needs sudo</Badge>}
              </Group>
              {VERBS.map((verb) => item[verb] && <TryCall key={verb} document={found} template={rest} verb={verb} item={item} />)}
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}
