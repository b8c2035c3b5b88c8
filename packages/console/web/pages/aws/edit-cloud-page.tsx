import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import type { FormValues } from '../../parts/form/form-values.ts';
import { NamedForm } from '../../parts/form/named-form.tsx';
import { PathForm } from '../../parts/form/path-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { cloudCrumbs } from './cloud-crumbs.tsx';
import { byKind, ROLE_KINDS } from './role-kinds.ts';

/** The forms of an AWS mount: the root key, a role of one of four kinds, a static role. */
export default function EditCloudPage() {
  const { params, search } = usePlace();
  const { mount = '', noun = 'roles' } = params;
  if (noun === 'config') return <EditRoot mount={mount} />;
  return noun === 'static' ? <EditStatic mount={mount} name={search.name} /> : <EditRole mount={mount} name={search.name} />;
}

const ROOT = ['access_key', 'secret_key', 'region', 'iam_endpoint', 'sts_endpoint', 'rotation_period', 'rotation_schedule'];

function EditRoot({ mount }: { readonly mount: string }) {
  const go = useGo();
  const back = (): void => go('/aws/$mount/config', { mount });
  return (
    <Page title="Replace the root key" crumbs={cloudCrumbs(mount)}>
      <PathForm
        path={apiPath(mount, 'config/root')}
        first={ROOT}
        needs={{ path: `${mount}/config/root`, need: ['create', 'update'] }}
        submit="Replace"
        stale={[apiPath(mount)]}
        done={back}
        onCancel={back}
      >
        <Text size="sm">What is not given here is cleared: the whole configuration is replaced.</Text>
      </PathForm>
    </Page>
  );
}

interface NamedProps {
  readonly mount: string;
  readonly name: string | undefined;
}

function EditRole({ mount, name }: NamedProps) {
  const go = useGo();
  const role = useRead<FormValues>(apiPath(mount, 'roles', name ?? ''), { enabled: name !== undefined });
  const form = (stored?: FormValues) => (
    <NamedForm
      list={`${mount}/roles`}
      known={name}
      stored={stored}
      shape={byKind}
      choices={{ credential_type: ROLE_KINDS }}
      begin={name === undefined ? { credential_type: 'iam_user' } : {}}
      resends={['credential_type']}
      submit={name === undefined ? 'Create role' : 'Save'}
      stale={[apiPath(mount)]}
      done={(made) => go('/aws/$mount/roles/$name', { mount, name: made })}
      onCancel={() => go('/aws/$mount', { mount })}
    />
  );
  return (
    <Page title={name === undefined ? 'New role' : `Edit ${name}`} crumbs={cloudCrumbs(mount, 'roles')}>
      {name === undefined ? form() : <Loaded query={role}>{({ data }) => form(data)}</Loaded>}
    </Page>
  );
}

function EditStatic({ mount, name }: NamedProps) {
  const go = useGo();
  const role = useRead<FormValues>(apiPath(mount, 'static-roles', name ?? ''), { enabled: name !== undefined });
  const form = (stored?: FormValues) => (
    <NamedForm
      list={`${mount}/static-roles`}
      known={name}
      stored={stored}
      first={['username', 'rotation_period', 'rotation_schedule', 'rotation_window', 'grace_period']}
      without={name === undefined ? [] : ['username']}
      shape={(body) => ({ ...body, schema: { ...body.schema, required: ['username'] } })}
      submit={name === undefined ? 'Create static role' : 'Save'}
      stale={[apiPath(mount)]}
      done={(made) => go('/aws/$mount/static/$name', { mount, name: made })}
      onCancel={() => go('/aws/$mount', { mount })}
    />
  );
  return (
    <Page title={name === undefined ? 'New static role' : `Edit ${name}`} crumbs={cloudCrumbs(mount, 'static')}>
      {name === undefined ? form() : <Loaded query={role}>{({ data }) => form(data)}</Loaded>}
    </Page>
  );
}
