import { Text } from '@mantine/core';
import { useState } from 'react';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamedForm } from '../../parts/form/named-form.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { AccessPlaces } from './access-places.tsx';
import { TOKEN_ROLE_FIRST } from './token-role-first.ts';

/** Roles fix what tokens made by them may be. */
export default function TokenRolesPage() {
  const go = useGo();
  const [opened, setOpened] = useState(false);
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
        <NamedForm
          list="auth/token/roles"
          known={undefined}
          first={TOKEN_ROLE_FIRST}
          submit="Create"
          stale={['auth/token/roles']}
          done={(name) => go('/access/token-roles/$name', { name })}
        />
      </Dialog>
    </Page>
  );
}
