import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { FailingThing, type ShownPlan } from '../../parts/failing-thing.tsx';
import { Facts } from '../../parts/facts.tsx';
import type { RotationStatus } from '../../parts/failing-rotations.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { When } from '../../parts/when.tsx';
import { cloudCrumbs } from './cloud-crumbs.tsx';

interface RootKey extends ShownPlan {
  readonly access_key: string;
  readonly region: string;
  readonly iam_endpoint: string;
  readonly sts_endpoint: string;
  readonly max_retries: number;
  readonly username_template: string;
  readonly root_rotation: RotationStatus;
}

/** The key by which the server works in the account. */
export default function RootPage() {
  const { params } = usePlace();
  const mount = params.mount ?? '';
  const go = useGo();
  const path = apiPath(mount, 'config/root');
  const root = useRead<RootKey>(path);
  const rotate = useAct<{ access_key: string }>({ method: 'POST', path: apiPath(mount, 'config/rotate-root'), stale: [path] });
  const [done, setDone] = useState<string>();
  return (
    <Page
      title="Root key"
      crumbs={cloudCrumbs(mount)}
      actions={
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/config/root`, need: ['update', 'create'] }}
          onClick={() => go('/aws/$mount/edit/$noun', { mount, noun: 'config' })}
        >
          Replace
        </ActionButton>
      }
    >
      <Loaded query={root}>
        {({ data }) => (
          <Stack gap="lg">
            <FailingThing mount={`${mount}/`} kind="rotate-root" id="root" plan={data} stale={[path]} />
            <Facts
              facts={[
                { label: 'Access key', value: data.access_key || 'that of the machine or its environment' },
                { label: 'Last rotation', value: <When time={data.root_rotation.last_success} /> },
                { label: 'Region', value: data.region },
                { label: 'IAM endpoint', value: data.iam_endpoint },
                { label: 'STS endpoint', value: data.sts_endpoint },
                { label: 'Names of users', value: data.username_template },
              ]}
            />
            <Group>
              <ConfirmAction
                label="Rotate root key"
                needs={{ path: `${mount}/config/rotate-root`, need: 'update' }}
                act={async () => {
                  const { data: made } = await rotate.mutateAsync({});
                  setDone(`The key is now ${made.access_key}; the one before is deleted.`);
                }}
              >
                The server makes a new key for its own user, tries it, and deletes the present one. Whoever else uses the present key is
                locked out.
              </ConfirmAction>
            </Group>
            {done && (
              <Text role="status" size="sm">
                {done}
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
      <CommandLines
        lines={[
          {
            with: 'CLI',
            command: `strongroom read ${shellWord(`${mount}/config/root`)}\nstrongroom write -f ${shellWord(`${mount}/config/rotate-root`)}`,
          },
        ]}
      />
    </Page>
  );
}
