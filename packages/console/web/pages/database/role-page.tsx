import { Group, Stack } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { databaseCrumbs } from './crumbs.tsx';
import { Preview } from './preview.tsx';
import { Statements } from './statements.tsx';

interface Role {
  readonly db_name: string;
  readonly credential_type: string;
  readonly default_ttl: number;
  readonly max_ttl: number;
  readonly creation_statements: readonly string[];
  readonly revocation_statements: readonly string[];
  readonly renew_statements: readonly string[];
  readonly rollback_statements: readonly string[];
}

/** A role: what it makes, and a user of it for whoever asks. */
export default function RolePage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const go = useGo();
  const path = apiPath(mount, 'roles', name);
  const role = useRead<Role>(path);
  const remove = useAct({ method: 'DELETE', path, stale: [apiPath(mount)] });
  return (
    <Page
      title={name}
      crumbs={databaseCrumbs(mount, 'roles')}
      actions={
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/roles/${name}`, need: 'update' }}
          onClick={() => go('/database/$mount/edit/$noun', { mount, noun: 'roles' }, { name })}
        >
          Edit
        </ActionButton>
      }
    >
      <Stack gap="lg">
        <IssuedCredential
          label="Borrow a user"
          path={apiPath(mount, 'creds', name)}
          needs={{ path: `${mount}/creds/${name}`, need: 'read' }}
          plain={['username', 'private_key_type']}
          oncePerKey
          stale={['sys/leases']}
        />
        <Loaded query={role}>
          {({ data }) => (
            <>
              <Facts
                facts={[
                  {
                    label: 'Connection',
                    value: (
                      <To to="/database/$mount/connections/$name" params={{ mount, name: data.db_name }}>
                        {data.db_name}
                      </To>
                    ),
                  },
                  { label: 'Credential', value: data.credential_type.replaceAll('_', ' ') },
                  { label: 'Lease', value: data.default_ttl === 0 ? "the mount's default" : duration(data.default_ttl) },
                  { label: 'At most', value: data.max_ttl === 0 ? "the mount's maximum" : duration(data.max_ttl) },
                  {
                    label: 'Leases',
                    value: (
                      <To to="/leases" search={{ prefix: `${mount}/creds/${name}` }}>
                        of this role
                      </To>
                    ),
                  },
                ]}
              />
              <Statements label="Creation statements" statements={data.creation_statements} />
              <Statements label="Revocation statements" statements={data.revocation_statements} />
              <Statements label="Renew statements" statements={data.renew_statements} />
              <Statements label="Rollback statements" statements={data.rollback_statements} />
              <Preview mount={mount} name={name} />
              <Group>
                <ConfirmAction
                  label={`Delete ${name}`}
                  typed={name}
                  needs={{ path: `${mount}/roles/${name}`, need: 'delete' }}
                  act={async () => {
                    await remove.mutateAsync(undefined);
                    go('/database/$mount', { mount }, { tab: 'roles' });
                  }}
                >
                  Nobody can borrow a user of this role any more. Users that were borrowed stay until their leases end.
                </ConfirmAction>
              </Group>
            </>
          )}
        </Loaded>
        <CommandLines
          lines={[
            { with: 'CLI', command: `strongroom read ${shellWord(`${mount}/creds/${name}`)}` },
            { with: 'curl', command: `curl -H "X-Vault-Token: $VAULT_TOKEN" "$VAULT_ADDR/v1/"${shellWord(apiPath(mount, 'creds', name))}` },
          ]}
        />
      </Stack>
    </Page>
  );
}
