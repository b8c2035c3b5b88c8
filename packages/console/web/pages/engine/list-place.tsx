import { Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { itemOf, type EnginePath, type FoundPath } from '../../api/engine-paths.ts';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';

interface ListPlaceProps {
  readonly mount: string;
  readonly address: string;
  readonly path: FoundPath;
  readonly paths: readonly EnginePath[];
}

/** The names below a path; where things can be made, a field for the name of a new one. */
export function ListPlace({ mount, address, path, paths }: ListPlaceProps) {
  const thing = itemOf(paths, path.template);
  return (
    <>
      <Text c="dimmed" size="sm" mb="sm">
        {path.item.description}
      </Text>
      {thing?.item.post && <NewThing mount={mount} address={address} />}
      <NamesTable
        path={apiPath(mount, address)}
        label={`Names in ${address}`}
        row={(name) => (
          <To to="/engine/$mount/$" params={{ mount, rest: `${address}/${name}` }}>
            {name}
          </To>
        )}
        empty={<Empty>There is nothing in {address} yet.</Empty>}
      />
    </>
  );
}

function NewThing({ mount, address }: { readonly mount: string; readonly address: string }) {
  const [name, setName] = useState('');
  const go = useGo();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        go('/engine/$mount/$', { mount, rest: `${address}/${name.trim()}` }, { new: true });
      }}
    >
      <Group align="end" gap="xs" mb="md">
        <TextInput
          label="Name of a new one"
          required
          autoComplete="off"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Create…
        </Button>
      </Group>
    </form>
  );
}
