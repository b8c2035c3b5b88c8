import { useQueryClient } from '@tanstack/react-query';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { NamedForm } from '../../parts/form/named-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { TOKEN_ROLE_FIRST } from './token-role-first.ts';

/** A token role, as a form that sends what was changed. */
export default function TokenRolePage() {
  const name = usePlace().params.name ?? '';
  const go = useGo();
  const client = useQueryClient();
  const path = apiPath('auth/token/roles', name);
  const role = useRead(path);
  return (
    <Page
      title={name}
      crumbs={[
        <To key="all" to="/access/token-roles">
          Token roles
        </To>,
      ]}
      actions={
        <ConfirmAction
          label={`Delete ${name}`}
          needs={{ path: `auth/token/roles/${name}`, need: 'delete' }}
          act={async () => {
            await send('DELETE', path);
            await makeStale(client, ['auth/token/roles']);
            go('/access/token-roles');
          }}
        >
          No more tokens can be made by the role. Those that it made live on.
        </ConfirmAction>
      }
    >
      <Loaded query={role}>
        {({ data }) => (
          <NamedForm
            list="auth/token/roles"
            known={name}
            stored={data}
            first={TOKEN_ROLE_FIRST}
            submit="Save"
            stale={['auth/token/roles']}
            done={() => undefined}
          />
        )}
      </Loaded>
      <CommandLines lines={[{ with: 'CLI', command: `strongroom read auth/token/roles/${name}\nstrongroom token create -role=${name}` }]} />
    </Page>
  );
}
