import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { ConnectionUsers } from './connection-users.ts';
import { Connections } from './connections.ts';
import { CredentialMaker } from './credential-maker.ts';
import { DynamicUsers } from './dynamic-users.ts';
import { configPaths } from './path-config.ts';
import { connectionTestPaths } from './path-connection-test.ts';
import { credsPaths } from './path-creds.ts';
import { databaseFailingPath, failingConnections } from './path-failing.ts';
import { resetPaths } from './path-reset.ts';
import { rolePaths } from './path-roles.ts';
import { rotateRootPaths } from './path-rotate-root.ts';
import { databaseCredsPaths } from './path-static-creds.ts';
import { staticRolePaths } from './path-static-roles.ts';
import { KnownUsers } from './known-users.ts';
import { OrphanedUsers } from './orphans.ts';
import { orphanPaths } from './path-orphans.ts';
import { PluginCatalog } from './plugin-catalog.ts';
import { previewPaths } from './path-preview.ts';
import { statusPaths } from './path-status.ts';
import { CONNECTIONS } from './records.ts';
import { leftOutside } from './left-outside.ts';
import { dropAllUnused } from './retired-connections.ts';
import { RootRotation } from './root-rotation.ts';
import { StaticUsers } from './static-users.ts';
import { UserMark } from './user-mark.ts';

/** Database credentials: connections, users made for a lease, and users whose password is rotated. */
export const databaseEngine: EnginePackage = {
  name: 'database',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  create: createDatabaseEngine,
};

function createDatabaseEngine(host: EngineHost): Engine {
  const mark = new UserMark(host);
  const connections = new Connections(
    host,
    new PluginCatalog(
      () => host.plugins('database'),
      () => host.refusedPlugins('database'),
    ),
    mark,
  );
  const credentials = new CredentialMaker(host);
  const users = new DynamicUsers(host, connections, credentials);
  const staticUsers = new StaticUsers(host, connections, credentials);
  const roots = new RootRotation(host, connections, credentials);
  const orphans = new OrphanedUsers(host, connections, mark);
  const known = new KnownUsers(host);
  const logins = new ConnectionUsers(host, connections);
  return {
    paths: [
      ...configPaths(host, connections, roots),
      ...statusPaths(host, connections, roots),
      ...connectionTestPaths(host, connections),
      ...resetPaths(host, connections),
      ...rotateRootPaths(roots),
      ...rolePaths(host, connections),
      ...previewPaths(host, connections, credentials),
      ...credsPaths(host, users),
      ...staticRolePaths(host, connections, staticUsers),
      ...databaseCredsPaths(host, staticUsers),
      databaseFailingPath(host, connections, staticUsers, roots),
      ...orphanPaths(connections, orphans),
    ],
    secrets: [users.secret],
    intents: [users.intent, orphans.intent],
    schedules: [staticUsers.rotation.job, roots.rotation.job],
    failing: async (limit) => failingConnections(host, connections, limit),
    system: (name) => ({ noun: 'connection', name, path: `config/${name}` }),
    outside: async () => leftOutside(host.storage),
    pools: () => connections.pools(),
    initialize: async () => {
      await mark.load();
      await dropAllUnused(host.storage);
    },
    invalidate: (key) => {
      if (key.startsWith(CONNECTIONS)) connections.invalidate(key.slice(CONNECTIONS.length));
    },
    close: async () => {
      known.forget();
      logins.forget();
      await connections.close();
    },
  };
}
