import { Stack } from '@mantine/core';
import { useNames } from '../../api/queries.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NewByName } from '../../parts/new-by-name.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';

/** Second factors: the methods, and which logins need one. */
export default function MfaPage() {
  const methods = useNames('identity/mfa/method/totp');
  const enforcements = useNames('identity/mfa/login-enforcement');
  const go = useGo();
  return (
    <Page
      title="Second factors"
      crumbs={[
        <To key="logins" to="/auth">
          Logins
        </To>,
      ]}
    >
      <Stack gap="xl">
        <section aria-labelledby="methods-title">
          <h2 id="methods-title">Methods</h2>
          <Loaded query={methods}>
            {({ pages }) => (
              <DataTable
                label="Methods"
                labelHidden
                rows={pages.flatMap(({ keys, keyInfo }) => keys.map((id) => ({ id, info: keyInfo[id] ?? {} })))}
                id={({ id }) => id}
                empty={<Empty>A method makes codes in an authenticator app (TOTP). There is none yet.</Empty>}
                columns={[
                  {
                    title: 'Method',
                    main: true,
                    cell: ({ id, info }) => (
                      <To to="/mfa/method/$id" params={{ id }}>
                        {String(info.name || id)}
                      </To>
                    ),
                  },
                  { title: 'Issuer', cell: ({ info }) => String(info.issuer ?? '–') },
                  { title: 'Digits', cell: ({ info }) => String(info.digits ?? '–') },
                ]}
              />
            )}
          </Loaded>
          <To to="/mfa/method/$id" params={{ id: 'new' }}>
            New method
          </To>
        </section>
        <section aria-labelledby="enforcements-title">
          <h2 id="enforcements-title">Which logins need one</h2>
          <Loaded query={enforcements}>
            {({ pages }) => (
              <DataTable
                label="Enforcements"
                labelHidden
                rows={pages.flatMap(({ keys, keyInfo }) => keys.map((name) => ({ name, info: keyInfo[name] ?? {} })))}
                id={({ name }) => name}
                empty={<Empty>No login needs a second factor yet.</Empty>}
                columns={[
                  {
                    title: 'Enforcement',
                    main: true,
                    cell: ({ name }) => (
                      <To to="/mfa/enforcement/$name" params={{ name }}>
                        {name}
                      </To>
                    ),
                  },
                  { title: 'Methods', cell: ({ info }) => count(info.mfa_method_ids) },
                  { title: 'Login methods', cell: ({ info }) => count(info.auth_method_accessors) + count(info.auth_method_types) },
                  { title: 'Groups and entities', cell: ({ info }) => count(info.identity_group_ids) + count(info.identity_entity_ids) },
                ]}
              />
            )}
          </Loaded>
          <NewByName
            label="Name of the new enforcement"
            button="New enforcement"
            needs={(name) => ({ path: `identity/mfa/login-enforcement/${name}`, need: ['create', 'update'] })}
            onName={(name) => go('/mfa/enforcement/$name', { name })}
          />
        </section>
      </Stack>
    </Page>
  );
}

function count(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
