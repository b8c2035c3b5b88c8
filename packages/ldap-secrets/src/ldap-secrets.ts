import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { joinBindNeighbours } from '@strongroom/ldap-client';
import { followed } from '@strongroom/rotation';
import { DynamicAccounts } from './dynamic-accounts.ts';
import { LibraryAccounts } from './library-accounts.ts';
import { LibrarySets } from './library-sets.ts';
import { Library } from './library.ts';
import { AccountMark } from './account-mark.ts';
import { OrphanedAccounts } from './orphans.ts';
import { outsideAccounts } from './outside-accounts.ts';
import { checkOutPaths } from './path-check-out.ts';
import { configTestPath } from './path-config-test.ts';
import { configPaths } from './path-config.ts';
import { directoryFailingPath } from './path-failing.ts';
import { libraryPaths } from './path-library.ts';
import { orphanPaths } from './path-orphans.ts';
import { rolePaths } from './path-roles.ts';
import { directoryCredPaths } from './path-static-creds.ts';
import { staticRolePaths } from './path-static-roles.ts';
import { ACCOUNTS, QUEUES } from './records.ts';
import { rootRotation } from './root-rotation.ts';
import { DirectoryService } from './service.ts';
import { StaticAccounts } from './static-accounts.ts';

/** Accounts of a directory: those whose password is rotated, those made for a lease, and those that are lent. */
export const ldapSecrets: EnginePackage = {
  name: 'ldap',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  aliases: { openldap: {} },
  create,
};

function create(host: EngineHost): Engine {
  const service = new DirectoryService(host);
  const root = rootRotation(host, service);
  const statics = new StaticAccounts(host, service);
  const mark = new AccountMark(host);
  const dynamics = new DynamicAccounts(host, service, mark);
  const orphans = new OrphanedAccounts(host, service, dynamics, mark);
  const accounts = new LibraryAccounts(host, service);
  const sets = new LibrarySets(host, service, accounts);
  const leave = joinBindNeighbours(host.mount.path, async () => {
    const config = await service.read();
    return config?.self_managed ? undefined : config;
  });
  const library = new Library(host, service, sets, accounts);
  return {
    paths: [
      ...configPaths(host, service, root),
      configTestPath(host, service),
      ...staticRolePaths(host, service, statics),
      ...directoryCredPaths(host, statics),
      ...rolePaths(host, dynamics),
      ...libraryPaths(host, sets, accounts, library),
      ...orphanPaths(orphans),
      ...checkOutPaths(library),
      directoryFailingPath(host, root, statics, accounts),
    ],
    secrets: [dynamics.secret, library.secret],
    intents: [dynamics.intent, orphans.intent, accounts.intent],
    schedules: [root.rotation.job, statics.rotation.job, followed(accounts.rotation.job, () => library.wake())],
    initialize: async () => mark.load(),
    invalidate: (key) => {
      if (key.startsWith(ACCOUNTS) || key.startsWith(QUEUES)) library.wake();
    },
    system: () => ({ noun: 'directory', name: '', path: 'config' }),
    outside: async () => outsideAccounts(host, { root, statics, library: accounts }),
    close: async () => {
      leave();
      service.close();
    },
  };
}
