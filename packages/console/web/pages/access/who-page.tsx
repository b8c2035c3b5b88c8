import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { OPERATIONS } from '../../api/explanation.ts';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { AccessPlaces } from './access-places.tsx';
import classes from './access.module.css';
import { Holders } from './holders.tsx';

/** Who may make a call, by which policies. */
export default function WhoPage() {
  const { search } = usePlace();
  const go = useGo();
  const [path, setPath] = useState(search.path ?? '');
  const [operation, setOperation] = useState(search.operation ?? 'read');
  return (
    <Page title="Who may">
      <AccessPlaces at="Who may" />
      <form
        className={classes.question}
        onSubmit={(event) => {
          event.preventDefault();
          go('/access/who', {}, { path, operation });
        }}
      >
        <TextInput
          label="Path"
          placeholder="secret/data/shop/database"
          spellCheck={false}
          autoComplete="off"
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
          required
        />
        <NativeSelect
          label="Operation"
          data={[...OPERATIONS]}
          value={operation}
          onChange={(event) => setOperation(event.currentTarget.value)}
        />
        <Button type="submit">Find</Button>
      </form>
      {search.path && <Holders question={{ path: search.path, operation: search.operation ?? 'read' }} />}
    </Page>
  );
}
