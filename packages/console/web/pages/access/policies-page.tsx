import { Text } from '@mantine/core';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { AccessPlaces } from './access-places.tsx';

/** All access policies. */
export default function PoliciesPage() {
  const go = useGo();
  return (
    <Page title="Policies" actions={<ActionButton onClick={() => go('/access/new-policy')}>New policy</ActionButton>}>
      <AccessPlaces at="Policies" />
      <Text size="sm" c="dimmed" mb="md">
        A policy names paths and what a token may do there. A change counts from the next call of every token that has it.
      </Text>
      <NamesTable
        path="sys/policies/acl"
        label="Policies"
        row={(name) => (
          <To to="/access/policies/$name" params={{ name }}>
            {name}
          </To>
        )}
        empty={<Empty>There is no policy.</Empty>}
      />
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom policy list' },
          { with: 'curl', command: 'curl -H "X-Vault-Token: $VAULT_TOKEN" "$VAULT_ADDR/v1/sys/policies/acl?list=true"' },
        ]}
      />
    </Page>
  );
}
