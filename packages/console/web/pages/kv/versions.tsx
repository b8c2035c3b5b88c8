import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo } from '../../parts/place.ts';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { lastOf, versionsPath, type KvMount } from './kv-mount.ts';
import { secretChanged, stateOf, useFacts, type SecretFacts, type VersionFacts, type SecretPart } from './secret.ts';
import { Undelete } from './undelete.tsx';

const MOODS = { live: 'good', deleted: 'warn', destroyed: 'bad' } as const;

/** All versions, the newest first: open, compare, undelete, delete, destroy. */
export default function Versions({ mount, secret }: SecretPart) {
  const query = useFacts(mount, secret);
  return (
    <Loaded query={query}>
      {(facts) =>
        facts && facts.current_version > 0 ? (
          <Table mount={mount} secret={secret} facts={facts} />
        ) : (
          <Empty>There are no versions yet.</Empty>
        )
      }
    </Loaded>
  );
}

function Table({ mount, secret, facts }: SecretPart & { readonly facts: SecretFacts }) {
  const versions: VersionFacts[] = Object.entries(facts.versions)
    .map(([version, rest]) => ({ ...rest, version: Number(version) }))
    .sort((a, b) => b.version - a.version);
  return (
    <Stack>
      {versions.length > 1 && <CompareVersions mount={mount} secret={secret} versions={versions.map(({ version }) => version)} />}
      <DataTable
        label="Versions"
        labelHidden
        rows={versions}
        id={({ version }) => String(version)}
        columns={[
          {
            title: 'Version',
            main: true,
            cell: ({ version }) => (
              <To to="/kv/$mount/show/$" params={{ mount: mount.path, rest: secret }} search={{ version }}>
                {version === facts.current_version ? `${version} (current)` : version}
              </To>
            ),
          },
          { title: 'Written', cell: ({ created_time }) => <When time={created_time} /> },
          {
            title: 'State',
            cell: (version) => (
              <>
                <StateChip mood={MOODS[stateOf(version)]}>{stateOf(version) === 'live' ? 'readable' : stateOf(version)}</StateChip>{' '}
                {version.deletion_time !== '' && !version.destroyed && <When time={version.deletion_time} />}
              </>
            ),
          },
          { title: 'Actions', end: true, cell: (version) => <Actions mount={mount} secret={secret} version={version} /> },
        ]}
      />
    </Stack>
  );
}

function Actions({ mount, secret, version }: { readonly mount: KvMount; readonly secret: string; readonly version: VersionFacts }) {
  const client = useQueryClient();
  const state = stateOf(version);
  if (state === 'destroyed') return null;
  const act = (what: 'delete' | 'destroy') => async (): Promise<void> => {
    await send('POST', versionsPath(mount, what, secret), { body: { versions: [version.version] } });
    await secretChanged(client, mount, secret);
  };
  return (
    <Group gap="xs" justify="flex-end">
      {state === 'deleted' ? (
        <Undelete mount={mount} secret={secret} versions={[version.version]} />
      ) : (
        <ConfirmAction
          label={`Delete version ${version.version}`}
          needs={{ path: `${mount.path}/delete/${secret}`, need: ['update', 'create'] }}
          act={act('delete')}
        >
          Version {version.version} will no longer be readable. It can be undeleted until it is destroyed.
        </ConfirmAction>
      )}
      <ConfirmAction
        label={`Destroy version ${version.version}`}
        needs={{ path: `${mount.path}/destroy/${secret}`, need: ['update', 'create'] }}
        typed={lastOf(secret)}
        act={act('destroy')}
      >
        The values of version {version.version} will be gone for good. Nobody can bring them back.
      </ConfirmAction>
    </Group>
  );
}

function CompareVersions({ mount, secret, versions }: SecretPart & { readonly versions: readonly number[] }) {
  const go = useGo();
  const [a, setA] = useState(String(versions[1]));
  const [b, setB] = useState(String(versions[0]));
  const data = versions.map((version) => ({ value: String(version), label: `version ${version}` }));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        go('/kv/$mount/diff/$', { mount: mount.path, rest: secret }, { a, b });
      }}
    >
      <Group gap="xs" align="flex-end">
        <NativeSelect size="xs" label="Compare" data={data} value={a} onChange={({ currentTarget }) => setA(currentTarget.value)} />
        <NativeSelect size="xs" label="with" data={data} value={b} onChange={({ currentTarget }) => setB(currentTarget.value)} />
        <Button size="xs" variant="default" type="submit">
          Compare
        </Button>
      </Group>
    </form>
  );
}
