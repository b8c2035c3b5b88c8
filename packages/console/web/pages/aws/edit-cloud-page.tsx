import { Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { FieldsForm, type FormField, type FormValues } from '../../parts/fields-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { cloudCrumbs } from './cloud-crumbs.tsx';
import { KINDS, ROOT_FIELDS, STATIC_KEY_FIELDS } from './cloud-fields.ts';

type RoleKind = keyof typeof KINDS;

/** The forms of an AWS mount: the root key, a role of one of four kinds, a static role. */
export default function EditCloudPage() {
  const { params, search } = usePlace();
  const { mount = '', noun = 'roles' } = params;
  if (noun === 'config') return <EditRoot mount={mount} />;
  return noun === 'static' ? <EditStatic mount={mount} name={search.name} /> : <EditRole mount={mount} name={search.name} />;
}

function EditRoot({ mount }: { readonly mount: string }) {
  const go = useGo();
  const save = useAct({ method: 'POST', path: apiPath(mount, 'config/root'), stale: [apiPath(mount)] });
  return (
    <Page title="Replace the root key" crumbs={cloudCrumbs(mount)}>
      <Text size="sm" mb="md">
        What is not given here is cleared: the whole configuration is replaced.
      </Text>
      <FieldsForm
        fields={ROOT_FIELDS}
        needs={{ path: `${mount}/config/root`, need: ['create', 'update'] }}
        submit="Replace"
        busy={save.isPending}
        error={save.error}
        onSubmit={(touched) => save.mutate(touched, { onSuccess: () => go('/aws/$mount/config', { mount }) })}
        onCancel={() => go('/aws/$mount/config', { mount })}
      />
    </Page>
  );
}

interface NamedProps {
  readonly mount: string;
  readonly name: string | undefined;
}

function EditRole({ mount, name }: NamedProps) {
  const role = useRead<FormValues>(apiPath(mount, 'roles', name ?? ''), { enabled: name !== undefined });
  return (
    <Page title={name === undefined ? 'New role' : `Edit ${name}`} crumbs={cloudCrumbs(mount, 'roles')}>
      {name === undefined ? (
        <RoleForm mount={mount} />
      ) : (
        <Loaded query={role}>{({ data }) => <RoleForm mount={mount} known={name} stored={data} />}</Loaded>
      )}
    </Page>
  );
}

interface FormProps {
  readonly mount: string;
  readonly known?: string;
  readonly stored?: FormValues;
}

function RoleForm({ mount, known, stored = {} }: FormProps) {
  const [kind, setKind] = useState<RoleKind>(String(stored.credential_type) in KINDS ? (stored.credential_type as RoleKind) : 'iam_user');
  return (
    <>
      <Select
        mb="xs"
        maw={640}
        label="What it makes"
        allowDeselect={false}
        value={kind}
        onChange={(next) => setKind((next ?? kind) as RoleKind)}
        data={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
      />
      <Text size="sm" c="dimmed" mb="md">
        {KINDS[kind].about}
      </Text>
      <NamedForm
        key={kind}
        mount={mount}
        list="roles"
        to="/aws/$mount/roles/$name"
        fields={KINDS[kind].fields}
        always={{ credential_type: kind }}
        noun="role"
        {...(known === undefined ? {} : { known })}
        stored={stored}
      />
    </>
  );
}

function EditStatic({ mount, name }: NamedProps) {
  const role = useRead<FormValues>(apiPath(mount, 'static-roles', name ?? ''), { enabled: name !== undefined });
  const form = (stored?: FormValues) => (
    <NamedForm
      mount={mount}
      list="static-roles"
      to="/aws/$mount/static/$name"
      fields={name === undefined ? STATIC_KEY_FIELDS : STATIC_KEY_FIELDS.filter((field) => field.name !== 'username')}
      always={{}}
      noun="static role"
      {...(name === undefined ? {} : { known: name })}
      {...(stored ? { stored } : {})}
    />
  );
  return (
    <Page title={name === undefined ? 'New static role' : `Edit ${name}`} crumbs={cloudCrumbs(mount, 'static')}>
      {name === undefined ? form() : <Loaded query={role}>{({ data }) => form(data)}</Loaded>}
    </Page>
  );
}

interface NamedFormProps extends FormProps {
  readonly list: string;
  readonly to: string;
  readonly noun: string;
  readonly fields: readonly FormField[];
  /** What every write holds. */
  readonly always: FormValues;
}

function NamedForm({ mount, list, to, noun, fields, always, known, stored = {} }: NamedFormProps) {
  const go = useGo();
  const [name, setName] = useState(known ?? '');
  const save = useAct({ method: 'POST', path: apiPath(mount, list, name), stale: [apiPath(mount)] });
  return (
    <Stack>
      {known === undefined && (
        <TextInput label="Name" required maw={640} value={name} onChange={({ currentTarget }) => setName(currentTarget.value.trim())} />
      )}
      <FieldsForm
        fields={fields}
        stored={stored}
        needs={{ path: `${mount}/${list}/${name}`, need: known === undefined ? 'create' : 'update' }}
        submit={known === undefined ? `Create ${noun}` : 'Save'}
        busy={save.isPending}
        error={save.error}
        onSubmit={(touched) => name !== '' && save.mutate({ ...always, ...touched }, { onSuccess: () => go(to, { mount, name }) })}
        onCancel={() => go('/aws/$mount', { mount })}
      />
    </Stack>
  );
}
