import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';
import { Unreached } from '../../parts/unreached.tsx';
import { folderOf, kvMountsOf, lastOf, useMounts, type KvMount } from './kv-mount.ts';

/** Finds the mount of the address, and draws what is in it. */
export function WithKvMount({ path, children }: { readonly path: string; readonly children: (mount: KvMount) => ReactNode }) {
  const mounts = useMounts();
  return (
    <Loaded query={mounts}>
      {({ data }) => {
        const mount = kvMountsOf(data).find((one) => one.path === path);
        if (mount) return children(mount);
        const other = data.secret[`${path}/`];
        return (
          <Page title={path} crumbs={[<To to="/kv">Secrets</To>]}>
            {other ? (
              <Text>
                {path}/ is a mount of type {other.type}: it keeps no secrets by path.
              </Text>
            ) : (
              <Unreached path={`${path}/`}>There is no mount at {path}/, or the token reaches nothing in it.</Unreached>
            )}
          </Page>
        );
      }}
    </Loaded>
  );
}

/** The way to a secret or folder: all mounts, the mount, and the folders above. */
export function crumbsTo(mount: KvMount, name: string): ReactNode[] {
  const folders: string[] = [];
  for (let folder = folderOf(name); folder !== ''; folder = folderOf(folder)) folders.unshift(folder);
  return [
    <To to="/kv">Secrets</To>,
    ...(name === '' ? [] : [<FolderLink mount={mount} folder="" />]),
    ...folders.map((folder) => <FolderLink mount={mount} folder={folder} />),
  ];
}

export function FolderLink({ mount, folder }: { readonly mount: KvMount; readonly folder: string }) {
  return (
    <To to="/kv/$mount/list/$" params={{ mount: mount.path, rest: folder.replace(/\/$/, '') }}>
      {folder === '' ? mount.path : lastOf(folder).replace(/\/$/, '')}
    </To>
  );
}
