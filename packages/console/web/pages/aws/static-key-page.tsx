import { Group, Stack } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { duration } from '../../parts/durations.ts';
import { FailingThing, type ShownPlan } from '../../parts/failing-thing.tsx';
import { Facts } from '../../parts/facts.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { When } from '../../parts/when.tsx';
import { cloudCrumbs } from './cloud-crumbs.tsx';
import { TwoKeys } from './two-keys.tsx';

interface StaticKey extends ShownPlan {
  readonly username: string;
  readonly grace_period?: number;
  readonly last_vault_rotation: string | null;
}

/** A static role of an AWS mount: a user that stays, and its key, which is replaced. */
export default function StaticKeyPage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const go = useGo();
  const path = apiPath(mount, 'static-roles', name);
  const role = useRead<StaticKey>(path);
  const remove = useAct({ method: 'DELETE', path, stale: [apiPath(mount)] });
  const rotate = useAct({ method: 'POST', path: apiPath(mount, 'rotate-role', name), stale: [path, 'sys/internal/ui/job'] });
  return (
    <Page
      title={name}
      crumbs={cloudCrumbs(mount, 'static')}
      actions={
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/static-roles/${name}`, need: 'update' }}
          onClick={() => go('/aws/$mount/edit/$noun', { mount, noun: 'static' }, { name })}
        >
          Edit
        </ActionButton>
      }
    >
      <Loaded query={role}>
        {({ data }) => (
          <Stack gap="lg">
            <FailingThing
              mount={`${mount}/`}
              kind="rotate-static-role"
              id={name}
              plan={data}
              lastGood={data.last_vault_rotation}
              pausePath={`${mount}/static-roles/${name}`}
              stale={[path]}
            />
            <TwoKeys last={data.last_vault_rotation} period={data.rotation_period} grace={data.grace_period ?? 0} />
            <IssuedCredential
              again
              label="Show the current key"
              path={apiPath(mount, 'static-creds', name)}
              needs={{ path: `${mount}/static-creds/${name}`, need: 'read' }}
              plain={['access_key', 'ttl', 'last_vault_rotation']}
            />
            <Facts
              facts={[
                { label: 'User', value: data.username },
                { label: 'Replaced every', value: data.rotation_period ? duration(data.rotation_period) : undefined },
                { label: 'Schedule (UTC)', value: data.rotation_schedule },
                { label: 'Key made', value: <When time={data.last_vault_rotation} /> },
                { label: 'The previous key stays', value: data.grace_period ? duration(data.grace_period) : 'not at all' },
              ]}
            />
            <Group>
              <ConfirmAction
                color="blue"
                label="Rotate now"
                needs={{ path: `${mount}/rotate-role/${name}`, need: 'update' }}
                act={() => rotate.mutateAsync({})}
              >
                {data.grace_period
                  ? `A new key is made. The present one works for ${duration(data.grace_period)} more.`
                  : 'A new key is made, and the present one is deleted at once.'}
              </ConfirmAction>
              <ConfirmAction
                label={`Delete ${name}`}
                typed={name}
                needs={{ path: `${mount}/static-roles/${name}`, need: 'delete' }}
                act={async () => {
                  await remove.mutateAsync(undefined);
                  go('/aws/$mount', { mount }, { tab: 'static' });
                }}
              >
                The keys of {data.username} that this role made are deleted: whoever uses them is locked out.
              </ConfirmAction>
            </Group>
            <CommandLines
              lines={[
                {
                  with: 'CLI',
                  command: `strongroom read ${shellWord(`${mount}/static-creds/${name}`)}\nstrongroom write -f ${shellWord(`${mount}/rotate-role/${name}`)}`,
                },
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}
