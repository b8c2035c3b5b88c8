import { Select, Stack, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { FieldsForm, type FormField, type FormValues } from '../../parts/fields-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ConnectionTest } from './connection-test.tsx';
import { databaseCrumbs } from './crumbs.tsx';
import { connectionFields, ROLE_FIELDS, STATIC_FIELDS } from './edit-fields.ts';
import { Preview } from './preview.tsx';

interface Kind {
  readonly noun: 'connection' | 'role' | 'static role';
  readonly list: string;
  readonly tab: 'connections' | 'roles' | 'static';
  readonly to: string;
}

const KINDS: readonly Kind[] = [
  { noun: 'connection', list: 'config', tab: 'connections', to: '/database/$mount/connections/$name' },
  { noun: 'role', list: 'roles', tab: 'roles', to: '/database/$mount/roles/$name' },
  { noun: 'static role', list: 'static-roles', tab: 'static', to: '/database/$mount/static/$name' },
];

/** Makes or changes a connection, a role or a static role: the fields, and beside them what they would do. */
export default function EditPage() {
  const { params, search } = usePlace();
  const mount = params.mount ?? '';
  const kind = KINDS.find(({ tab }) => tab === params.noun) ?? KINDS[0]!;
  const stored = useRead<FormValues>(apiPath(mount, kind.list, search.name ?? ''), { enabled: search.name !== undefined });
  return (
    <Page title={search.name === undefined ? `New ${kind.noun}` : `Edit ${search.name}`} crumbs={databaseCrumbs(mount, kind.tab)}>
      {search.name === undefined ? (
        <Edit mount={mount} kind={kind} />
      ) : (
        <Loaded query={stored}>{({ data }) => <Edit mount={mount} kind={kind} name={search.name!} stored={data} />}</Loaded>
      )}
    </Page>
  );
}

interface EditProps {
  readonly mount: string;
  readonly kind: Kind;
  readonly name?: string;
  readonly stored?: FormValues;
}

function Edit({ mount, kind, name: known, stored = {} }: EditProps) {
  const go = useGo();
  const [name, setName] = useState(known ?? '');
  const [plugin, setPlugin] = useState(typeof stored.plugin_name === 'string' ? stored.plugin_name : 'postgresql-database-plugin');
  const save = useAct({ method: 'POST', path: apiPath(mount, kind.list, name), stale: [apiPath(mount)] });
  const path = `${mount}/${kind.list}/${name}`;
  const isConnection = kind.tab === 'connections';
  const named = (touched: FormValues): FormValues => ({ ...touched, ...(isConnection ? { plugin_name: plugin } : identity(kind, stored)) });
  return (
    <Stack>
      {known === undefined && (
        <TextInput label="Name" required maw={640} value={name} onChange={({ currentTarget }) => setName(currentTarget.value.trim())} />
      )}
      {isConnection && <PluginChoice value={plugin} onChange={setPlugin} />}
      <FieldsForm
        fields={fieldsOf(kind, plugin, known !== undefined)}
        stored={isConnection ? detailsOf(stored) : stored}
        needs={{ path, need: known === undefined ? 'create' : 'update' }}
        submit={known === undefined ? `Create ${kind.noun}` : 'Save'}
        busy={save.isPending}
        error={save.error}
        onSubmit={(touched) => name !== '' && save.mutate(named(touched), { onSuccess: () => go(kind.to, { mount, name }) })}
        onCancel={() => (known === undefined ? go('/database/$mount', { mount }, { tab: kind.tab }) : go(kind.to, { mount, name: known }))}
        {...besideOf(kind, mount, name, named)}
      />
    </Stack>
  );
}

function besideOf(
  kind: Kind,
  mount: string,
  name: string,
  named: (touched: FormValues) => FormValues,
): { beside?: (touched: FormValues) => ReactNode } {
  if (kind.tab === 'connections') return { beside: (touched) => <ConnectionTest mount={mount} name={name} draft={named(touched)} /> };
  if (kind.tab === 'roles') return { beside: (touched) => <Preview mount={mount} name={name} draft={named(touched)} /> };
  return {};
}

function fieldsOf(kind: Kind, plugin: string, exists: boolean): readonly FormField[] {
  if (kind.tab === 'connections') return connectionFields(plugin);
  if (kind.tab === 'roles') return ROLE_FIELDS;
  // Whose password it is cannot be changed.
  return exists ? STATIC_FIELDS.filter(({ name }) => name !== 'username' && name !== 'db_name') : STATIC_FIELDS;
}

/** What every write of a static role names. */
function identity(kind: Kind, stored: FormValues): FormValues {
  return kind.tab === 'static' && stored.username !== undefined ? { username: stored.username, db_name: stored.db_name } : {};
}

/** A connection as its form has it: the parameters of the plugin beside its own fields. */
function detailsOf(stored: FormValues): FormValues {
  const details = (stored.connection_details ?? {}) as FormValues;
  return { ...stored, ...details, root_rotation_statements: stored.root_credentials_rotate_statements };
}

function PluginChoice({ value, onChange }: { readonly value: string; readonly onChange: (plugin: string) => void }) {
  const catalog = useRead<{ keys?: string[]; database?: string[] }>('sys/plugins/catalog/database', { method: 'LIST' });
  const known = catalog.data?.data.keys ?? [];
  return (
    <Select
      label="Plugin"
      maw={640}
      data={[...new Set([...known, value])]}
      value={value}
      allowDeselect={false}
      onChange={(next) => onChange(next ?? value)}
    />
  );
}
