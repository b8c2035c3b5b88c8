import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { changesBetween } from './changes.ts';
import { ChangesTable } from './changes-table.tsx';
import { kvMountsOf, lastOf, useMounts, type KvMount } from './kv-mount.ts';
import { crumbsTo, WithKvMount } from './kv-page.tsx';
import { leavesOf } from './leaves.ts';
import { useSecret } from './secret.ts';

/** What differs between two secrets, such as one of staging and one of production. */
export default function ComparePage() {
  const { params, search } = usePlace();
  const secret = params.rest ?? '';
  const mounts = useMounts();
  return (
    <WithKvMount path={params.mount ?? ''}>
      {(mount) => {
        const all = mounts.data ? kvMountsOf(mounts.data.data) : [mount];
        const other = all.find(({ path }) => path === (search.mount ?? mount.path));
        return (
          <Page
            title={`Compare ${lastOf(secret)} with another secret`}
            crumbs={[
              ...crumbsTo(mount, secret),
              <To to="/kv/$mount/show/$" params={{ mount: mount.path, rest: secret }}>
                {lastOf(secret)}
              </To>,
            ]}
          >
            <OtherSecret mount={mount} secret={secret} mounts={all} other={search.mount ?? mount.path} path={search.path ?? ''} />
            {other && search.path && <Compared a={{ mount, secret }} b={{ mount: other, secret: search.path }} />}
          </Page>
        );
      }}
    </WithKvMount>
  );
}

interface Named {
  readonly mount: KvMount;
  readonly secret: string;
}

interface OtherSecretProps extends Named {
  readonly mounts: readonly KvMount[];
  readonly other: string;
  readonly path: string;
}

function OtherSecret({ mount, secret, mounts, other, path }: OtherSecretProps) {
  const go = useGo();
  const [chosen, setChosen] = useState(other);
  const [text, setText] = useState(path === '' ? secret : path);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        go('/kv/$mount/compare/$', { mount: mount.path, rest: secret }, { mount: chosen, path: text });
      }}
    >
      <Group gap="xs" align="flex-end" mb="md">
        <NativeSelect
          size="xs"
          label="Mount"
          data={mounts.map((one) => one.path)}
          value={chosen}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        />
        <TextInput size="xs" label="Secret" value={text} onChange={({ currentTarget }) => setText(currentTarget.value)} />
        <Button size="xs" variant="default" type="submit" disabled={text === ''}>
          Compare
        </Button>
      </Group>
    </form>
  );
}

function Compared({ a, b }: { readonly a: Named; readonly b: Named }) {
  const before = useSecret(a.mount, a.secret);
  const after = useSecret(b.mount, b.secret);
  const nameOf = ({ mount, secret }: Named): string => `${mount.path}/${secret}`;
  return (
    <Loaded query={before}>
      {(first) => (
        <Loaded query={after}>
          {(second) =>
            first.data && second.data ? (
              <ChangesTable changes={changesBetween(leavesOf(first.data), leavesOf(second.data))} before={nameOf(a)} after={nameOf(b)} />
            ) : (
              <Text>There is nothing to read at {nameOf(first.data ? b : a)}.</Text>
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
}
