import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import type { CloudProvider } from './cloud-provider.ts';
import { DynamicUsers } from './dynamic-users.ts';
import { KeyRemoval } from './key-removal.ts';
import { ManagedKeys } from './managed-keys.ts';
import { configLeasePaths } from './path-config-lease.ts';
import { configRootPaths } from './path-config-root.ts';
import { credsPaths } from './path-creds.ts';
import { cloudFailingPath } from './path-failing.ts';
import { orphanPaths } from './path-orphans.ts';
import { previewPaths } from './path-preview.ts';
import { rolePaths } from './path-roles.ts';
import { rotateRootPaths } from './path-rotate-root.ts';
import { cloudCredsPaths } from './path-static-creds.ts';
import { staticRolePaths } from './path-static-roles.ts';
import { ROOT_KEY } from './records.ts';
import { Root } from './root.ts';
import { RootRotation } from './root-rotation.ts';
import { StaticKeys } from './static-keys.ts';
import { TemporaryCredentials } from './temporary-credentials.ts';

/** The engine of a cloud: users made for a lease, temporary credentials, keys of users that are rotated. */
export function cloudEngine(provider: CloudProvider): EnginePackage {
  return {
    name: provider.name,
    kind: 'secret',
    apiVersion: API_VERSION,
    version: provider.version,
    create: (host) => createCloudEngine(host, provider),
  };
}

function createCloudEngine(host: EngineHost, provider: CloudProvider): Engine {
  const root = new Root(host, provider);
  const managed = new ManagedKeys(host, provider);
  const removal = new KeyRemoval(host, root, managed);
  const rotation = new RootRotation(host, provider, { root, removal, managed });
  const keys = new StaticKeys(host, provider, { root, removal, managed });
  const users = new DynamicUsers(host, root, managed);
  const temporary = new TemporaryCredentials(host, root);
  return {
    paths: [
      ...configRootPaths(host, { provider, root, rotation }),
      ...configLeasePaths(host),
      ...rotateRootPaths(rotation),
      ...rolePaths(host),
      ...credsPaths(host, users, temporary),
      ...previewPaths(host, { root, users, temporary }),
      ...staticRolePaths(host, keys),
      ...cloudCredsPaths(host, keys),
      cloudFailingPath(host, keys, rotation),
      ...orphanPaths(host, root, users),
    ],
    secrets: [users.secret, temporary.secret],
    intents: [users.intent, removal.intent],
    schedules: [keys.rotation.job, rotation.rotation.job, users.sweep],
    initialize: async () => {
      await rotation.claimKey();
      await keys.claimAll();
    },
    system: () => ({ noun: 'cloud account', name: 'root', path: 'config/root' }),
    retire: async (signal) => keys.retire(signal),
    outside: async () => [...(await rotation.outside()), ...(await keys.outside()), ...(await users.outside())],
    invalidate: (key) => {
      if (key === ROOT_KEY) root.changed();
    },
    close: async () => root.close(),
  };
}
