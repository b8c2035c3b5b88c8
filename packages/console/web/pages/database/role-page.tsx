import { Stack } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { duration } from '../../parts/durations.ts';
import { EditButton } from '../../parts/edit-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { BorrowUser } from './borrow-user.tsx';
import { ConnectionLink } from './connection-link.tsx';
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
  const role = useRead<Role>(apiPath(mount, 'roles', name));
  return (
    <Page
      title={name}
      crumbs={databaseCrumbs(mount, 'roles')}
      actions={
        <EditButton path={`${mount}/roles/${name}`} to="/database/$mount/edit/$noun" params={{ mount, noun: 'roles' }} search={{ name }} />
      }
    >
      <Stack gap="lg">
        <BorrowUser mount={mount} name={name} />
        <Loaded query={role}>
          {({ data }) => (
            <>
              <Facts
                facts={[
                  { label: 'Connection', value: <ConnectionLink mount={mount} name={data.db_name} /> },
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
              <div>
                <DeleteThing
                  path={`${mount}/roles/${name}`}
                  name={name}
                  stale={[apiPath(mount)]}
                  done={() => go('/database/$mount', { mount }, { tab: 'roles' })}
                >
                  Nobody can borrow a user of this role any more. Users that were borrowed stay until their leases end.
                </DeleteThing>
              </div>
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
