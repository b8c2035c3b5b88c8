import { Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { AccessPlaces } from './access-places.tsx';
import { FieldsForm } from './fields-form.tsx';
import { TOKEN_ROLE_FIELDS } from './token-role-fields.ts';

/** Roles fix what tokens made by them may be. */
export default function TokenRolesPage() {
  const go = useGo();
  const client = useQueryClient();
  const [opened, setOpened] = useState(false);
  const [name, setName] = useState('');
  return (
    <Page
      title="Token roles"
      actions={
        <ActionButton needs={{ path: 'auth/token/roles/new', need: ['create', 'update'] }} onClick={() => setOpened(true)}>
          New token role
        </ActionButton>
      }
    >
      <AccessPlaces at="Token roles" />
      <Text size="sm" c="dimmed" mb="md">
        A role fixes what tokens made by it may be. Whoever may write auth/token/create/ROLE gets such tokens, whatever their own policies
        are.
      </Text>
      <NamesTable
        path="auth/token/roles"
        label="Token roles"
        row={(role) => (
          <To to="/access/token-roles/$name" params={{ name: role }}>
            {role}
          </To>
        )}
        empty={<Empty>There is no token role.</Empty>}
      />
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom list auth/token/roles' }]} />
      <Dialog title="New token role" opened={opened} onClose={() => setOpened(false)}>
        <TextInput label="Name" mb="sm" data-autofocus value={name} onChange={(event) => setName(event.currentTarget.value)} required />
        <FieldsForm
          fields={TOKEN_ROLE_FIELDS}
          values={{ renewable: true }}
          submit="Create"
          act={async (fields) => {
            await send('POST', apiPath('auth/token/roles', name), { body: fields });
            await makeStale(client, ['auth/token/roles']);
            go('/access/token-roles/$name', { name });
          }}
        />
      </Dialog>
    </Page>
  );
}
