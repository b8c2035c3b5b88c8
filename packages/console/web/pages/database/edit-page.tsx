import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import type { FormValues } from '../../parts/form/form-values.ts';
import { NamedForm } from '../../parts/form/named-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ConnectionTest } from './connection-test.tsx';
import { databaseCrumbs } from './crumbs.tsx';
import { Preview } from './preview.tsx';

interface Kind {
  readonly noun: 'connection' | 'role' | 'static role';
  readonly list: string;
  readonly tab: 'connections' | 'roles' | 'static';
  readonly to: string;
  /** Fields that stand first. */
  readonly first: readonly string[];
  /** What every write names. */
  readonly always: readonly string[];
  /** What cannot be changed: whose password it is. */
  readonly fixed: readonly string[];
  /** What a new one begins with. */
  readonly begin: FormValues;
  /** Beside the form: what it would do. */
  readonly beside?: (mount: string, name: string, draft: FormValues) => ReactNode;
}

const ROTATION = ['rotation_period', 'rotation_schedule', 'rotation_window'];

const KINDS: readonly Kind[] = [
  {
    ...{ noun: 'connection', list: 'config', tab: 'connections', to: '/database/$mount/connections/$name' },
    first: ['plugin_name', 'connection_url', 'hosts', 'host', 'port', 'username', 'password', 'tls', 'allowed_roles', 'verify_connection'],
    always: ['plugin_name'],
    fixed: [],
    begin: { plugin_name: 'postgresql-database-plugin' },
    beside: (mount, name, draft) => <ConnectionTest mount={mount} name={name} draft={draft} />,
  },
  {
    ...{ noun: 'role', list: 'roles', tab: 'roles', to: '/database/$mount/roles/$name' },
    first: ['db_name', 'creation_statements', 'default_ttl', 'max_ttl', 'revocation_statements'],
    always: [],
    fixed: [],
    begin: {},
    beside: (mount, name, draft) => <Preview mount={mount} name={name} draft={draft} />,
  },
  {
    ...{ noun: 'static role', list: 'static-roles', tab: 'static', to: '/database/$mount/static/$name' },
    first: ['db_name', 'username', 'usernames', ...ROTATION, 'grace_period'],
    always: ['username', 'usernames', 'db_name'],
    fixed: ['username', 'usernames', 'db_name'],
    begin: {},
  },
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

function Edit({ mount, kind, name: known, stored }: EditProps) {
  const go = useGo();
  const { beside, list, noun, tab, to } = kind;
  return (
    <Stack>
      <NamedForm
        list={`${mount}/${list}`}
        known={known}
        stored={stored && detailsOf(stored)}
        begin={known === undefined ? kind.begin : {}}
        first={kind.first}
        without={known === undefined ? [] : kind.fixed}
        resends={kind.always}
        shape={(body) => (tab === 'connections' ? body : { ...body, schema: { ...body.schema, required: NEEDED } })}
        stale={[apiPath(mount)]}
        submit={known === undefined ? `Create ${noun}` : 'Save'}
        beside={beside && ((values, _touched, name) => beside(mount, name, values))}
        onCancel={() => (known === undefined ? go('/database/$mount', { mount }, { tab }) : go(to, { mount, name: known }))}
        done={(name) => go(to, { mount, name })}
      />
    </Stack>
  );
}

/** What every role needs. A static role also needs a user or a pair of them, which the server says. */
const NEEDED = ['db_name'];

/** A connection as its form has it: the parameters of the plugin beside its own fields. */
function detailsOf({ connection_details: details, root_credentials_rotate_statements: rotation, ...stored }: FormValues): FormValues {
  return { ...stored, ...(details as FormValues | undefined), ...(rotation === undefined ? {} : { root_rotation_statements: rotation }) };
}
