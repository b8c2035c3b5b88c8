import { Text } from '@mantine/core';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { AccessPlaces } from './access-places.tsx';

/** All password policies. */
export default function PasswordPoliciesPage() {
  const go = useGo();
  const create = <ActionButton onClick={() => go('/access/new-password-policy')}>New password policy</ActionButton>;
  return (
    <Page title="Password policies" actions={create}>
      <AccessPlaces at="Password policies" />
      <Text size="sm" c="dimmed" mb="md">
        How long the passwords are that engines make, and of what characters. Engines without one make 20 characters of all kinds.
      </Text>
      <NamesTable
        path="sys/policies/password"
        label="Password policies"
        row={(name) => (
          <To to="/access/password-policies/$name" params={{ name }}>
            {name}
          </To>
        )}
        empty={<Empty>There is no password policy: every engine makes passwords in its own way.</Empty>}
      />
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom list sys/policies/password' }]} />
    </Page>
  );
}
