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
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { databaseCrumbs } from './crumbs.tsx';
import { Statements } from './statements.tsx';

interface StaticRole extends ShownPlan {
  readonly db_name: string;
  readonly username: string;
  readonly credential_type: string;
  readonly rotation_statements: readonly string[];
  readonly last_vault_rotation: string | null;
}

/** A static role: a user that stays, and how the rotation of its password stands. */
export default function StaticRolePage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const go = useGo();
  const path = apiPath(mount, 'static-roles', name);
  const role = useRead<StaticRole>(path);
  const remove = useAct({ method: 'DELETE', path, stale: [apiPath(mount)] });
  return (
    <Page
      title={name}
      crumbs={databaseCrumbs(mount, 'static')}
      actions={
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/static-roles/${name}`, need: 'update' }}
          onClick={() => go('/database/$mount/edit/$noun', { mount, noun: 'static' }, { name })}
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
            <IssuedCredential
              again
              label="Show the current credential"
              path={apiPath(mount, 'static-creds', name)}
              needs={{ path: `${mount}/static-creds/${name}`, need: 'read' }}
              plain={STATIC_PLAIN}
            />
            <Facts
              facts={[
                { label: 'User', value: data.username },
                {
                  label: 'Connection',
                  value: (
                    <To to="/database/$mount/connections/$name" params={{ mount, name: data.db_name }}>
                      {data.db_name}
                    </To>
                  ),
                },
                { label: 'Credential', value: data.credential_type.replaceAll('_', ' ') },
                { label: 'Rotated every', value: data.rotation_period ? duration(data.rotation_period) : undefined },
                { label: 'Schedule (UTC)', value: data.rotation_schedule },
                { label: 'Last rotation', value: <When time={data.last_vault_rotation} /> },
              ]}
            />
            <Statements label="Rotation statements" statements={data.rotation_statements} />
            <Group>
              <RotateNow mount={mount} name={name} />
              <ConfirmAction
                label={`Delete ${name}`}
                typed={name}
                needs={{ path: `${mount}/static-roles/${name}`, need: 'delete' }}
                act={async () => {
                  await remove.mutateAsync(undefined);
                  go('/database/$mount', { mount }, { tab: 'static' });
                }}
              >
                The user {data.username} stays in the database with the password that it has, and nobody here knows that password any more.
              </ConfirmAction>
            </Group>
            <CommandLines
              lines={[
                {
                  with: 'CLI',
                  command: `strongroom read ${shellWord(`${mount}/static-creds/${name}`)}\nstrongroom write -f ${shellWord(`${mount}/rotate-role/${name}`)}`,
                },
                {
                  with: 'curl',
                  command: `curl -H "X-Vault-Token: $VAULT_TOKEN" -X POST "$VAULT_ADDR/v1/"${shellWord(apiPath(mount, 'rotate-role', name))}`,
                },
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

/** What the answer with a current credential holds beside the secret. */
const STATIC_PLAIN = [
  ...['username', 'ttl', 'rotation_period', 'rotation_schedule', 'rotation_window', 'disable_automated_rotation', 'last_vault_rotation'],
  'private_key_type',
];

function RotateNow({ mount, name }: { readonly mount: string; readonly name: string }) {
  const stale = [apiPath(mount, 'static-roles', name), 'sys/internal/ui/job'];
  const rotate = useAct({ method: 'POST', path: apiPath(mount, 'rotate-role', name), stale });
  return (
    <ConfirmAction
      color="blue"
      label="Rotate now"
      needs={{ path: `${mount}/rotate-role/${name}`, need: 'update' }}
      act={() => rotate.mutateAsync({})}
    >
      The password changes at once. Whoever keeps a copy of the old one must read the new one.
    </ConfirmAction>
  );
}
