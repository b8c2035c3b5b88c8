import { Button } from '@mantine/core';
import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { AccessPlaces } from './access-places.tsx';
import classes from './access.module.css';
import { CallFields } from './call-fields.tsx';
import { Holders } from './holders.tsx';

/** Who may make a call, by which policies. */
export default function WhoPage() {
  const { search } = usePlace();
  const go = useGo();
  const [call, setCall] = useState({ path: search.path ?? '', operation: search.operation ?? 'read' });
  return (
    <Page title="Who may">
      <AccessPlaces at="Who may" />
      <form
        className={classes.question}
        onSubmit={(event) => {
          event.preventDefault();
          go('/access/who', {}, { ...call });
        }}
      >
        <CallFields call={call} onChange={setCall} />
        <Button type="submit">Find</Button>
      </form>
      {search.path && <Holders question={{ path: search.path, operation: search.operation ?? 'read' }} />}
    </Page>
  );
}
