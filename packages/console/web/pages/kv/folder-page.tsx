import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconFolder, IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { useRight } from '../../api/rights.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { curlOf, shellWord } from './commands.ts';
import { dataPath, lastOf, metadataPath, type KvMount } from './kv-mount.ts';
import { crumbsTo, WithKvMount } from './kv-page.tsx';
import { reachableIn, type ResultantAcl } from './reachable.ts';
import classes from './kv.module.css';

/** A folder of secrets. */
export default function FolderPage() {
  const { params } = usePlace();
  const rest = params.rest ?? '';
  return (
    <WithKvMount path={params.mount ?? ''}>
      {(mount) => <Folder key={`${mount.path}/${rest}`} mount={mount} folder={rest === '' ? '' : `${rest.replace(/\/$/, '')}/`} />}
    </WithKvMount>
  );
}

function Folder({ mount, folder }: { readonly mount: KvMount; readonly folder: string }) {
  const go = useGo();
  const path = metadataPath(mount, folder);
  const mayList = useRight({ path, need: 'list' });
  return (
    <Page
      title={folder === '' ? mount.path : lastOf(folder).replace(/\/$/, '')}
      crumbs={crumbsTo(mount, folder)}
      actions={
        <>
          <GoToPath mount={mount} folder={folder} />
          <Button size="xs" onClick={() => go('/kv/$mount/new/$', { mount: mount.path, rest: folder.replace(/\/$/, '') })}>
            New secret
          </Button>
        </>
      }
    >
      {mayList === 'no' ? (
        <Reachable mount={mount} folder={folder} />
      ) : (
        <NamesTable
          path={apiPath(path)}
          label="Secrets and folders"
          row={(name) => <Name mount={mount} name={folder + name} />}
          empty={
            <Empty>
              {folder === ''
                ? 'There are no secrets in this mount yet.'
                : 'There is nothing in this folder: a folder exists as long as a secret is in it.'}
            </Empty>
          }
        />
      )}
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom kv list -mount=${shellWord(mount.path)} ${shellWord(folder)}`.trimEnd() },
          { with: 'curl', command: curlOf('LIST', apiPath(path)) },
        ]}
      />
    </Page>
  );
}

function Name({ mount, name }: { readonly mount: KvMount; readonly name: string }) {
  const isFolder = name.endsWith('/');
  const Icon = isFolder ? IconFolder : IconKey;
  return (
    <To
      className={classes.name}
      to={isFolder ? '/kv/$mount/list/$' : '/kv/$mount/show/$'}
      params={{ mount: mount.path, rest: isFolder ? name.slice(0, -1) : name }}
    >
      <Icon size={15} stroke={1.6} aria-label={isFolder ? 'Folder' : 'Secret'} role="img" />
      <span className={classes.verbatim}>{lastOf(name)}</span>
    </To>
  );
}

/** Below a folder that the token may not list: what its policies name. */
function Reachable({ mount, folder }: { readonly mount: KvMount; readonly folder: string }) {
  const acl = useRead<ResultantAcl>('sys/internal/ui/resultant-acl');
  return (
    <Stack gap="sm">
      <Text size="sm">
        The token may not list this folder (missing: list on {metadataPath(mount, folder)}). The policies of the token name what stands
        below; for anything else, go to its path.
      </Text>
      <Loaded query={acl}>
        {({ data }) => {
          const names = reachableIn(data, [...new Set([dataPath(mount, ''), metadataPath(mount, '')])], folder);
          if (names.length === 0) return <Text c="dimmed">The policies name nothing here.</Text>;
          return (
            <ul className={classes.names} aria-label="Reachable by the policies">
              {names.map((name) => (
                <li key={name}>
                  <Name mount={mount} name={folder + name} />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Stack>
  );
}

function GoToPath({ mount, folder }: { readonly mount: KvMount; readonly folder: string }) {
  const go = useGo();
  const [text, setText] = useState('');
  const target = folder + text.replace(/^\/+/, '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') return;
        const isFolder = target.endsWith('/');
        go(isFolder ? '/kv/$mount/list/$' : '/kv/$mount/show/$', { mount: mount.path, rest: isFolder ? target.slice(0, -1) : target });
      }}
    >
      <Group gap={4} wrap="nowrap">
        <TextInput
          size="xs"
          aria-label="Go to path"
          placeholder="folder/ or secret"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button size="xs" variant="default" type="submit">
          Go
        </Button>
      </Group>
    </form>
  );
}
