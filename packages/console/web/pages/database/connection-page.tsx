import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Facts } from '../../parts/facts.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { EditButton } from '../../parts/edit-button.tsx';
import { FailingThing } from '../../parts/failing-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { ConnectionStatus } from './connection-status.tsx';
import { databaseCrumbs } from './crumbs.tsx';

interface Connection {
  readonly plugin_name: string;
  readonly allowed_roles: readonly string[];
  readonly connection_details: Readonly<Record<string, unknown>>;
  readonly root_credentials_rotate_statements: readonly string[];
  readonly password_policy: string;
}

/** A connection: its settings without secrets, how it is doing now, and the actions on it. */
export default function ConnectionPage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const config = apiPath(mount, 'config', name);
  const connection = useRead<Connection>(config);
  return (
    <Page
      title={name}
      crumbs={databaseCrumbs(mount, 'connections')}
      actions={
        <EditButton
          path={`${mount}/config/${name}`}
          to="/database/$mount/edit/$noun"
          params={{ mount, noun: 'connections' }}
          search={{ name }}
        />
      }
    >
      <Loaded query={connection}>
        {({ data }) => (
          <Stack gap="lg">
            <ConnectionStatus mount={mount} name={name} />
            <FailingThing mount={`${mount}/`} kind="rotate-root" id={name} stale={[config]} />
            <Facts
              facts={[
                { label: 'Plugin', value: data.plugin_name },
                { label: 'Roles that may use it', value: data.allowed_roles.join(', ') || 'none' },
                ...Object.entries(data.connection_details).map(([label, value]) => ({ label, value: textOf(value) })),
                { label: 'Password policy', value: data.password_policy },
                { label: 'Root rotation statements', value: data.root_credentials_rotate_statements.join('\n') },
              ]}
            />
            <ConnectionActions mount={mount} name={name} />
            <CommandLines
              lines={[
                {
                  with: 'CLI',
                  command: ['read', 'write -f']
                    .map((verb, at) => `strongroom ${verb} ${shellWord(`${mount}/${at === 0 ? 'config' : 'reset'}/${name}`)}`)
                    .join('\n'),
                },
                { with: 'curl', command: `curl -H "X-Vault-Token: $VAULT_TOKEN" "$VAULT_ADDR/v1/"${shellWord(config)}` },
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function ConnectionActions({ mount, name }: { readonly mount: string; readonly name: string }) {
  const go = useGo();
  const stale = [apiPath(mount, 'config', name), 'sys/internal/ui/job'];
  const [done, setDone] = useState<string>();
  const told = (text: string) => ({ onSuccess: () => setDone(text), onError: () => setDone(undefined) });
  const reset = useAct({ method: 'POST', path: apiPath(mount, 'reset', name), stale });
  const rotate = useAct({ method: 'POST', path: apiPath(mount, 'rotate-root', name), stale });
  const error: ApiError | null = reset.error;
  return (
    <section aria-label="Actions">
      <Group gap="xs">
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/reset/${name}`, need: 'update' }}
          loading={reset.isPending}
          onClick={() => reset.mutate({}, told('The connection was reopened, and the database accepted the login.'))}
        >
          Reset
        </ActionButton>
        <ConfirmAction
          label="Rotate root password"
          needs={{ path: `${mount}/rotate-root/${name}`, need: 'update' }}
          act={async () => {
            await rotate.mutateAsync({});
            setDone('The password of the root user was changed. Nobody can read the new one.');
          }}
        >
          The server changes the password of its own user in the database, and keeps the new one to itself. Whoever else uses this password
          is locked out.
        </ConfirmAction>
        <To to="/database/$mount/orphans/$name" params={{ mount, name }}>
          Orphans
        </To>
        <DeleteThing
          path={`${mount}/config/${name}`}
          name={name}
          stale={[apiPath(mount)]}
          done={() => go('/database/$mount', { mount }, { tab: 'connections' })}
        >
          Roles of this connection issue nothing any more. Leases stay, and can be revoked.
        </DeleteThing>
      </Group>
      {done && (
        <Text role="status" size="sm" mt="xs">
          {done}
        </Text>
      )}
      {error && <ServerError error={error} />}
    </section>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
