import { NativeSelect, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNames, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { HeldNotice, HoldButton } from './hold.tsx';

/** Where secrets are copied to. */
export default function DestinationsPage() {
  const listed = useNames('sys/sync/destinations');
  return (
    <Page
      title="Sync"
      actions={
        <>
          <To to="/sync/apps">GitHub Apps</To>
          <HoldButton />
        </>
      }
    >
      <HeldNotice />
      <Loaded query={listed}>
        {({ pages }) => (
          <DataTable
            label="Destinations"
            labelHidden
            rows={pages.flatMap(({ keys, keyInfo }) =>
              keys.flatMap((type) => (keyInfo[type] as unknown as string[]).map((name) => ({ type: type.replace(/\/$/, ''), name }))),
            )}
            id={({ type, name }) => `${type}/${name}`}
            empty={<Empty>A destination is a place outside that gets copies of secrets and is kept up to date. There is none yet.</Empty>}
            columns={[
              {
                title: 'Destination',
                main: true,
                cell: (destination) => (
                  <To to="/sync/$type/$name" params={destination}>
                    {destination.type}/{destination.name}
                  </To>
                ),
              },
              {
                title: 'Drift',
                cell: (destination) => (
                  <To to="/sync/$type/$name/plan" params={destination}>
                    Plan
                  </To>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <NewDestination />
    </Page>
  );
}

function NewDestination() {
  const go = useGo();
  const [name, setName] = useState('');
  const catalog = useRead<Record<string, unknown>>('sys/plugins/catalog');
  const types = Array.isArray(catalog.data?.data['sync-destination']) ? (catalog.data.data['sync-destination'] as string[]) : [];
  const known = types.length > 0 ? types : ['aws-sm', 'aws-ssm', 'azure-kv', 'gcp-sm', 'gh', 'kubernetes', 'vault', 'vercel-project'];
  const [type, setType] = useState('aws-sm');
  return (
    <section aria-labelledby="new-destination">
      <h2 id="new-destination">New destination</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') go('/sync/$type/$name/settings', { type, name: name.trim() });
        }}
      >
        <Group gap="xs" align="flex-end">
          <NativeSelect size="xs" label="Kind" data={known} value={type} onChange={({ currentTarget }) => setType(currentTarget.value)} />
          <TextInput
            size="xs"
            label="Name"
            value={name}
            autoComplete="off"
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <ActionButton
            type="submit"
            needs={{ path: `sys/sync/destinations/${type}/${name.trim() || 'name'}`, need: ['create', 'update'] }}
          >
            New destination
          </ActionButton>
        </Group>
      </form>
    </section>
  );
}
