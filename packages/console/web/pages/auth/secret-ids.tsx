import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient, useNames, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Facts } from '../../parts/facts.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { When } from '../../parts/when.tsx';

/** Accessors whose facts are read; of the others only the accessor is shown. */
const READ = 50;

interface SecretId {
  readonly creation_time: string;
  readonly expiration_time: string;
  readonly secret_id_num_uses: number;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** What a program needs to log in as the role: the role id, and a secret id that is shown once. */
export function SecretIds({ mount, role }: { readonly mount: string; readonly role: string }) {
  const path = apiPath('auth', mount, 'role', role, 'secret-id');
  const roleId = useRead<{ role_id: string }>(apiPath('auth', mount, 'role', role, 'role-id'));
  const accessors = useNames(path);
  return (
    <>
      <section aria-labelledby="role-id-title">
        <h2 id="role-id-title">Role id</h2>
        <Loaded query={roleId}>
          {({ data }) => (
            <Facts
              facts={[
                {
                  label: 'Role id',
                  value: (
                    <>
                      {data.role_id} <CopyButton icon value={data.role_id} label="Copy the role id" />
                    </>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </section>
      <section aria-labelledby="secret-ids-title">
        <h2 id="secret-ids-title">Secret ids</h2>
        <IssuedCredential
          label="Make a secret id"
          method="POST"
          path={path}
          body={{}}
          needs={{ path: `auth/${mount}/role/${role}/secret-id`, need: ['update', 'create'] }}
          plain={['secret_id_accessor', 'secret_id_ttl', 'secret_id_num_uses']}
          stale={[path]}
        />
        <Loaded query={accessors}>
          {({ pages }) => {
            const keys = pages.flatMap(({ keys: some }) => some);
            return (
              <DataTable
                label="Secret ids by accessor"
                rows={keys.slice(0, READ)}
                id={(accessor) => accessor}
                empty={<Empty>No secret id of this role is alive.</Empty>}
                columns={[
                  { title: 'Accessor', main: true, cell: (accessor) => accessor },
                  { title: 'Made', cell: (accessor) => <Fact mount={mount} role={role} accessor={accessor} what="creation_time" /> },
                  { title: 'Ends', cell: (accessor) => <Fact mount={mount} role={role} accessor={accessor} what="expiration_time" /> },
                  {
                    title: 'Action',
                    end: true,
                    cell: (accessor) => (
                      <ConfirmAction
                        label={`Destroy ${accessor.slice(0, 8)}`}
                        needs={{ path: `auth/${mount}/role/${role}/secret-id-accessor/destroy`, need: ['update', 'create'] }}
                        act={async () => {
                          await send('POST', apiPath('auth', mount, 'role', role, 'secret-id-accessor', 'destroy'), {
                            body: { secret_id_accessor: accessor },
                          });
                          await makeStale(queryClient, [path]);
                        }}
                      >
                        Programs that log in with it are refused at once. Tokens that it gave live on to their end.
                      </ConfirmAction>
                    ),
                  },
                ]}
              />
            );
          }}
        </Loaded>
        {(accessors.data?.pages[0]?.keys.length ?? 0) > READ && <Text size="sm">Only the first {READ} are shown.</Text>}
      </section>
    </>
  );
}

function Fact({
  mount,
  role,
  accessor,
  what,
}: {
  readonly mount: string;
  readonly role: string;
  readonly accessor: string;
  readonly what: 'creation_time' | 'expiration_time';
}) {
  const found = useRead<SecretId>(apiPath('auth', mount, 'role', role, 'secret-id-accessor', 'lookup'), {
    method: 'POST',
    body: { secret_id_accessor: accessor },
  });
  if (!found.data) return <>–</>;
  return <When time={found.data.data[what]} />;
}
