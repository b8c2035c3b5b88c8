import { Stack, Text, Title } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useStored } from '../../api/use-stored.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { SettingsTest, type TestOfSettings } from '../../parts/settings-test.tsx';
import { Settings } from '../../parts/settings.tsx';
import { MethodFrame } from './method-frame.tsx';
import { useMethod } from './use-method.ts';

/** The configuration of a login method, with the stages of a login beside it. */
export default function MethodPage() {
  const here = useMethod();
  const { mount, method } = here;
  const path = apiPath('auth', mount, 'config');
  const stored = useStored(path, method?.config !== undefined);
  const test: TestOfSettings | undefined = method?.test && {
    path: apiPath('auth', mount, 'config', 'test'),
    needs: { path: `auth/${mount}/config/test`, need: 'sudo' },
    ...method.test,
    found: (data) => <Found data={data} />,
  };
  return (
    <MethodFrame here={here} title={method?.config ? `${mount}/ configuration` : `Try a login at ${mount}/`} section="config">
      {method && !method.config && test && <SettingsTest test={test} />}
      {method?.config && (
        <Loaded query={stored}>
          {({ data }) => (
            <>
              {!data && (
                <Text mb="md" maw={680}>
                  Nothing is configured yet. Test what you type beside the form; save when all stages pass.
                </Text>
              )}
              <Settings
                path={path}
                needs={{ path: `auth/${mount}/config`, need: ['update', 'create'] }}
                stored={data}
                first={method.config!.first}
                resends={method.config!.resends ?? []}
                stale={[path]}
                {...(test ? { test } : {})}
              />
            </>
          )}
        </Loaded>
      )}
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read auth/${mount}/config\nstrongroom write -f auth/${mount}/config/test` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${path}` },
        ]}
      />
    </MethodFrame>
  );
}

/** Who would be logged in, with what. */
function Found({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
  const facts = Object.entries(data).filter(([name, value]) => name !== 'ok' && name !== 'steps' && value !== null && value !== '');
  if (facts.length === 0) return null;
  return (
    <Stack gap={4}>
      <Title order={3} size="h5">
        What a login would give
      </Title>
      <Facts facts={facts.map(([name, value]) => ({ label: name.replaceAll('_', ' '), value: shown(value) }))} />
    </Stack>
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
