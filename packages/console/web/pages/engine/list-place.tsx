import { Button, Group, Text, TextInput } from '@mantine/core';
import { Fragment, useState, type ReactNode } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { itemOf, type EnginePath, type FoundPath } from '../../api/engine-paths.ts';
import { isSecret } from '../../api/marked-secrets.ts';
import { dataOf, resolved, type ApiDocument, type Schema } from '../../api/openapi.ts';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';

interface ListPlaceProps {
  readonly document: ApiDocument;
  readonly mount: string;
  readonly address: string;
  readonly path: FoundPath;
  readonly paths: readonly EnginePath[];
}

/** The names below a path; where things can be made, a field for the name of a new one. */
export function ListPlace({ document, mount, address, path, paths }: ListPlaceProps) {
  const thing = itemOf(paths, path.template);
  const { additionalProperties: info } = resolved(document, dataOf(document, path.item.get).properties?.['key_info']);
  const told = typeof info === 'object' ? resolved(document, info) : {};
  return (
    <>
      <Text c="dimmed" size="sm" mb="sm">
        {path.item.description}
      </Text>
      {thing?.item.post && <NewThing mount={mount} address={address} />}
      <NamesTable
        path={apiPath(mount, address)}
        label={`Names in ${address}`}
        row={(name, about) => (
          <>
            <To to="/engine/$mount/$" params={{ mount, rest: `${address}/${name}` }}>
              {name}
            </To>
            <Told document={document} schema={told} about={about} />
          </>
        )}
        empty={<Empty>There is nothing in {address} yet.</Empty>}
      />
    </>
  );
}

interface ToldProps {
  readonly document: ApiDocument;
  readonly schema: Schema;
  readonly about: Readonly<Record<string, unknown>>;
}

/** What the list declares to say of a name, without secrets. */
function Told({ document, schema, about }: ToldProps) {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !isSecret(document, schema, name));
  const parts = fields.flatMap(([name, field]): ReactNode[] => {
    const value = about[name];
    if (value === undefined || value === null || value === '') return [];
    if (resolved(document, field).format === 'date-time') return [<When time={String(value)} />];
    if (Array.isArray(value)) return value.flatMap((one) => (typeof one === 'string' ? [one] : [])).slice(0, SHOWN);
    return typeof value === 'object' ? [] : [String(value)];
  });
  return (
    <Text span size="sm" c="dimmed" truncate>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && ' · '}
          {part}
        </Fragment>
      ))}
    </Text>
  );
}

/** Of a list within a row. */
const SHOWN = 3;

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
