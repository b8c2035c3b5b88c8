import { Group, NativeSelect, Text } from '@mantine/core';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { changesBetween } from './changes.ts';
import { ChangesTable } from './changes-table.tsx';
import { lastOf } from './kv-mount.ts';
import { crumbsTo, WithKvMount } from './kv-page.tsx';
import { leavesOf } from './leaves.ts';
import { useFacts, useSecret, type SecretPart } from './secret.ts';

/** What differs between two versions of a secret. */
export default function DiffPage() {
  const { params, search } = usePlace();
  const secret = params.rest ?? '';
  return (
    <WithKvMount path={params.mount ?? ''}>
      {(mount) => (
        <Diff key={`${mount.path}/${secret}`} mount={mount} secret={secret} a={Number(search.a ?? 0)} b={Number(search.b ?? 0)} />
      )}
    </WithKvMount>
  );
}

interface DiffProps extends SecretPart {
  /** 0 for the current version. */
  readonly a: number;
  readonly b: number;
}

function Diff({ mount, secret, a, b }: DiffProps) {
  const go = useGo();
  const facts = useFacts(mount, secret);
  const at = { mount: mount.path, rest: secret };
  const before = useSecret(mount, secret, a || undefined);
  const after = useSecret(mount, secret, b || undefined);
  const versions = Object.keys(facts.data?.versions ?? {})
    .map(Number)
    .sort((x, y) => y - x);
  const choice = (label: string, value: number, set: (version: number) => void) => (
    <NativeSelect
      size="xs"
      label={label}
      data={[...new Set([...versions, value])].map((version) => ({
        value: String(version),
        label: version === 0 ? 'current version' : `version ${version}`,
      }))}
      value={String(value)}
      onChange={({ currentTarget }) => set(Number(currentTarget.value))}
    />
  );
  return (
    <Page
      title={`Compare versions of ${lastOf(secret)}`}
      crumbs={[
        ...crumbsTo(mount, secret),
        <To to="/kv/$mount/show/$" params={at}>
          {lastOf(secret)}
        </To>,
      ]}
    >
      <Group gap="xs" mb="md">
        {choice('Compare', a, (version) => go('/kv/$mount/diff/$', at, { a: version, b }, { replace: true }))}
        {choice('with', b, (version) => go('/kv/$mount/diff/$', at, { a, b: version }, { replace: true }))}
      </Group>
      <Loaded query={before}>
        {(first) => (
          <Loaded query={after}>
            {(second) =>
              first.data && second.data ? (
                <ChangesTable
                  changes={changesBetween(leavesOf(first.data), leavesOf(second.data))}
                  before={`version ${first.facts?.version ?? a}`}
                  after={`version ${second.facts?.version ?? b}`}
                />
              ) : (
                <Text>Version {first.data ? b : a} is deleted, destroyed, or was never there, so there is nothing to compare.</Text>
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}
