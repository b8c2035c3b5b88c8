import { Stack, TextInput, Select } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { bodyOf, useApiDocument, type ApiDocument } from '../../api/openapi.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { SchemaForm } from '../../parts/schema-form.tsx';
import { To } from '../../parts/to.tsx';
import { PLACES, STALE, type Kind } from './mounts.ts';

interface Plugin {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly refused?: string;
}

/** Mounts that every server has. */
const BUILT_IN = new Set(['system', 'identity', 'cubbyhole', 'token', 'sync']);

/** A new secrets engine or login method, from the server's catalogue of plugins. */
export default function EnablePage() {
  const kind: Kind = usePlace().params.kind === 'auth' ? 'auth' : 'secret';
  const catalogue = useRead<{ detailed: readonly Plugin[] }>('sys/plugins/catalog');
  const document = useApiDocument();
  return (
    <Page title={kind === 'auth' ? 'Enable a login method' : 'Enable a secrets engine'} crumbs={[<To to="/mounts">Mounts</To>]}>
      <Loaded query={catalogue}>
        {({ data }) => (
          <Loaded query={document}>
            {(found) => (
              <EnableForm
                kind={kind}
                document={found}
                plugins={data.detailed.filter(({ type, name, refused }) => type === kind && refused === undefined && !BUILT_IN.has(name))}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function EnableForm({
  kind,
  document,
  plugins,
}: {
  readonly kind: Kind;
  readonly document: ApiDocument;
  readonly plugins: readonly Plugin[];
}) {
  const [type, setType] = useState<string | null>(null);
  const [path, setPath] = useState('');
  const go = useGo();
  const at = (path.trim() === '' ? (type ?? '') : path.trim()).replace(/^\/+|\/+$/g, '');
  const act = useAct({
    method: 'POST',
    path: apiPath(PLACES[kind], at),
    stale: STALE,
    done: () => go('/mounts/$kind/$mount', { kind, mount: at }),
  });
  const declared = bodyOf(document, document.paths[`/${PLACES[kind]}/{path}`]?.post);
  const offered = ['description', 'options', 'config'];
  const properties = Object.fromEntries(Object.entries(declared.properties ?? {}).filter(([name]) => offered.includes(name)));
  return (
    <Stack>
      <Select
        label="What"
        required
        searchable
        maw="44rem"
        data={[...new Map(plugins.map((plugin) => [plugin.name, { value: plugin.name, label: plugin.name }])).values()]}
        value={type}
        onChange={setType}
      />
      <TextInput
        label="Path"
        description="Where it is reached; it may have several parts, such as team/keys."
        maw="44rem"
        placeholder={type ?? ''}
        autoComplete="off"
        value={path}
        onChange={({ currentTarget }) => setPath(currentTarget.value)}
      />
      <SchemaForm
        schema={{ type: 'object', properties }}
        submit={at === '' ? 'Enable' : `Enable at ${at}/`}
        needs={{ path: `${PLACES[kind]}/${at || 'new'}`, need: 'update', sudo: kind === 'auth' }}
        busy={act.isPending}
        error={act.error}
        send={(values) => type !== null && act.mutate({ ...values, type })}
      />
    </Stack>
  );
}
