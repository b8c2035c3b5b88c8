import { Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { AccessPlaces } from './access-places.tsx';
import classes from './access.module.css';
import { StandingWarning, TokenFacts, type TokenData } from './token-facts.tsx';

/** Tokens by their accessors, and the one that is used here. */
export default function TokensPage() {
  const go = useGo();
  const own = useRead<TokenData>('auth/token/lookup-self');
  const [accessor, setAccessor] = useState('');
  return (
    <Page
      title="Tokens"
      actions={
        <ActionButton needs={{ path: 'auth/token/create', need: ['update', 'create'] }} onClick={() => go('/access/new-token')}>
          New token
        </ActionButton>
      }
    >
      <AccessPlaces at="Tokens" />
      <form
        className={classes.question}
        onSubmit={(event) => {
          event.preventDefault();
          go('/access/tokens/$accessor', { accessor: accessor.trim() });
        }}
      >
        <TextInput
          label="Accessor"
          description="Stands in the audit log and beside the token; it shows and ends its token, and cannot be used instead of it"
          spellCheck={false}
          autoComplete="off"
          value={accessor}
          onChange={(event) => setAccessor(event.currentTarget.value)}
          required
        />
        <ActionButton type="submit" size="sm" needs={{ path: 'auth/token/lookup-accessor', need: ['update', 'create'] }}>
          Look up
        </ActionButton>
      </form>
      <Title order={2} size="h4" mb="xs">
        Your token
      </Title>
      <Loaded query={own}>
        {({ data }) => (
          <>
            <StandingWarning token={data} />
            <TokenFacts token={data} />
          </>
        )}
      </Loaded>
      <Title order={2} size="h4" mt="lg" mb="xs">
        All tokens
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        By accessor. Who may list them may end each of them, so the list needs sudo.
      </Text>
      <NamesTable
        path="auth/token/accessors"
        label="Accessors"
        row={(name) => (
          <To to="/access/tokens/$accessor" params={{ accessor: name }}>
            {name}
          </To>
        )}
        empty={<Empty>There is no token.</Empty>}
      />
      <CommandLines
        lines={[{ with: 'CLI', command: 'strongroom list auth/token/accessors\nstrongroom token lookup -accessor ACCESSOR' }]}
      />
    </Page>
  );
}
