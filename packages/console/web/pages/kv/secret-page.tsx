import { Alert, Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { ActionButton } from '../../parts/action-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { StateChip } from '../../parts/state-chip.tsx';
import { Sections } from '../../parts/sections.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { ExportMenu } from './export-menu.tsx';
import { dataPath, lastOf } from './kv-mount.ts';
import { crumbsTo, WithKvMount } from './kv-page.tsx';
import { leavesOf } from './leaves.ts';
import { secretChanged, stateOf, useFacts, useSecret, type SecretPart } from './secret.ts';
import { Undelete } from './undelete.tsx';
import { ValuesTable } from './values-table.tsx';
import { useUnsaved } from './unsaved.ts';

const Versions = lazy(() => import('./versions.tsx'));
const Metadata = lazy(() => import('./metadata.tsx'));
const Copies = lazy(() => import('./copies.tsx'));
const Paths = lazy(() => import('./paths.tsx'));

const TABS = [
  { id: 'data', label: 'Data' },
  { id: 'versions', label: 'Versions', versioned: true },
  { id: 'metadata', label: 'Metadata', versioned: true },
  { id: 'copies', label: 'Copies' },
  { id: 'paths', label: 'Paths and commands' },
] as const;

/** One secret: its values, versions, metadata and copies, a part at a time. */
export default function SecretPage() {
  const { params, search } = usePlace();
  const secret = params.rest ?? '';
  const version = /^\d+$/.test(search.version ?? '') ? Number(search.version) : undefined;
  return (
    <WithKvMount path={params.mount ?? ''}>
      {(mount) => (
        <Secret key={`${mount.path}/${secret}`} mount={mount} secret={secret} version={version || undefined} tab={search.tab ?? 'data'} />
      )}
    </WithKvMount>
  );
}

interface SecretProps extends SecretPart {
  readonly version: number | undefined;
  readonly tab: string;
}

function Secret({ mount, secret, version, tab }: SecretProps) {
  const go = useGo();
  const client = useQueryClient();
  const facts = useFacts(mount, secret);
  const unsaved = useUnsaved(mount, secret);
  const at = { mount: mount.path, rest: secret };
  const current = facts.data?.current_version;
  const isOld = version !== undefined && current !== undefined && version !== current;
  return (
    <Page
      title={lastOf(secret)}
      crumbs={crumbsTo(mount, secret)}
      beside={
        current !== undefined && (
          <Text size="sm" c="dimmed">
            version {version ?? current} of {current}
          </Text>
        )
      }
      actions={
        <>
          <ActionButton
            needs={{ path: dataPath(mount, secret), need: ['update', 'create'] }}
            onClick={() => go('/kv/$mount/edit/$', at, { from: isOld ? version : undefined })}
          >
            {isOld ? `Go back to version ${version}` : mount.version === 2 ? 'New version' : 'Edit'}
          </ActionButton>
          <ExportMenu mount={mount} secret={secret} version={version} />
          <Button size="xs" variant="default" onClick={() => go('/kv/$mount/compare/$', at)}>
            Compare
          </Button>
          <ConfirmAction
            label="Delete"
            needs={{ path: dataPath(mount, secret), need: 'delete' }}
            {...(mount.version === 1 ? { typed: secret } : {})}
            act={async () => {
              await send('DELETE', apiPath(dataPath(mount, secret)));
              await secretChanged(client, mount, secret);
            }}
          >
            {mount.version === 2
              ? `The current version of ${secret} will no longer be readable. It can be undeleted until it is destroyed.`
              : `${secret} will be gone for good: this mount keeps no old versions.`}
          </ConfirmAction>
        </>
      }
    >
      {unsaved && (
        <Alert color="yellow" variant="light" mb="md" title="You have unsaved changes to this secret">
          <To to="/kv/$mount/edit/$" params={at}>
            Continue with them
          </To>
        </Alert>
      )}
      <Sections
        label="Parts of the secret"
        sections={TABS.filter((one) => !('versioned' in one) || mount.version === 2).map(({ id, label }) => ({
          label,
          to: '/kv/$mount/show/$',
          search: { tab: id === 'data' ? undefined : id, version: version?.toString() },
          current: tab === id,
        }))}
      />
      <Suspense fallback={<Text role="status">Loading</Text>}>
        {tab === 'versions' ? (
          <Versions mount={mount} secret={secret} />
        ) : tab === 'metadata' ? (
          <Metadata mount={mount} secret={secret} />
        ) : tab === 'copies' ? (
          <Copies mount={mount} secret={secret} />
        ) : tab === 'paths' ? (
          <Paths mount={mount} secret={secret} version={version} />
        ) : (
          <Data mount={mount} secret={secret} version={version} />
        )}
      </Suspense>
    </Page>
  );
}

function Data({ mount, secret, version }: SecretPart & { readonly version: number | undefined }) {
  const query = useSecret(mount, secret, version);
  return (
    <Loaded query={query}>
      {({ data, facts }) => {
        if (data) {
          const leaves = leavesOf(data);
          return (
            <>
              {facts && (
                <Text size="sm" c="dimmed" mb="xs">
                  Version {facts.version}, written <When time={facts.created_time} />
                  {facts.deletion_time !== '' && (
                    <>
                      ; it deletes itself <When time={facts.deletion_time} />
                    </>
                  )}
                </Text>
              )}
              {leaves.length === 0 ? <Empty>This version has no keys.</Empty> : <ValuesTable leaves={leaves} />}
            </>
          );
        }
        if (!facts) return <Empty>There is no secret here{version === undefined ? '' : ' with this version'}.</Empty>;
        const state = stateOf(facts);
        return (
          <Empty action={state === 'deleted' && <Undelete mount={mount} secret={secret} versions={[facts.version]} />}>
            Version {facts.version} <StateChip mood={state === 'destroyed' ? 'bad' : 'warn'}>{state}</StateChip>{' '}
            {state === 'destroyed' ? 'Its values are gone for good.' : <When time={facts.deletion_time} />}
          </Empty>
        );
      }}
    </Loaded>
  );
}
