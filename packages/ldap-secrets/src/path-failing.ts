import type { AnyPath, EngineHost } from '@strongroom/engine-sdk';
import { failingPath, inTrouble, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { LibraryAccounts } from './library-accounts.ts';
import { CONFIG, recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticAccounts } from './static-accounts.ts';

export function directoryFailingPath(host: EngineHost, root: RootRotation, accounts: StaticAccounts, library: LibraryAccounts): AnyPath {
  const records = recordsIn(host.storage);
  return failingPath({
    description: 'Static roles, accounts of the library and the password of binddn whose rotation fails or has an unknown outcome.',
    summary: 'Shows the rotations that are in trouble.',
    rotations: {
      static_roles: async () => inTrouble(accounts.rotation, await records.staticRoles.entries()),
      library_accounts: async () => inTrouble(library.rotation, await records.accounts.entries(), (_key, { name }) => name),
    },
    also: {
      response: { root: Type.Optional(RotationStatus) },
      read: async () => {
        const config = await records.config.get(CONFIG);
        return inTrouble(root.rotation, config ? [[CONFIG, config]] : [], () => 'root');
      },
    },
  });
}
