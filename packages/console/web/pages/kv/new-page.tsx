import { Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import type { KvMount } from './kv-mount.ts';
import { crumbsTo, WithKvMount } from './kv-page.tsx';

/** Asks where a new secret is to be. */
export default function NewPage() {
  const { params } = usePlace();
  const folder = params.rest ? `${params.rest}/` : '';
  return (
    <WithKvMount path={params.mount ?? ''}>
      {(mount) => (
        <Page title="New secret" crumbs={crumbsTo(mount, `${folder}new`)}>
          <Place mount={mount} folder={folder} />
        </Page>
      )}
    </WithKvMount>
  );
}

function Place({ mount, folder }: { readonly mount: KvMount; readonly folder: string }) {
  const go = useGo();
  const [path, setPath] = useState(folder);
  const fault = faultOf(path);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) go('/kv/$mount/edit/$', { mount: mount.path, rest: path });
      }}
    >
      <TextInput
        label={`Path in ${mount.path}/`}
        description="Slashes make folders."
        maw={560}
        autoFocus
        autoComplete="off"
        value={path}
        error={path === folder ? undefined : fault}
        onChange={({ currentTarget }) => setPath(currentTarget.value)}
      />
      <Group mt="md">
        <Button type="submit" disabled={fault !== undefined}>
          Continue
        </Button>
        {/^\s|\s$/.test(path) && <Text size="sm">The path begins or ends with a space.</Text>}
      </Group>
    </form>
  );
}

/** Why nothing can be stored there; undefined for a path. */
function faultOf(path: string): string | undefined {
  const parts = path.split('/');
  if (path === '' || path.endsWith('/')) return 'A secret needs a name behind the last slash.';
  if (parts.includes('')) return 'A folder needs a name.';
  if (parts.includes('.') || parts.includes('..')) return 'A name cannot be “.” or “..”: browsers drop it from addresses.';
  return undefined;
}
