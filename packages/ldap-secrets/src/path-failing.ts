import { path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { inTrouble, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { LibraryAccounts } from './library-accounts.ts';
import { CONFIG, recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticAccounts } from './static-accounts.ts';

const Statuses = Type.Record(Type.String(), RotationStatus);

export function failingPath(host: EngineHost, root: RootRotation, accounts: StaticAccounts, library: LibraryAccounts): AnyPath {
  const records = recordsIn(host.storage);
  return path('failing', {
    synopsis: 'What does not work at the moment.',
    description: 'Static roles, accounts of the library and the password of binddn whose rotation fails or has an unknown outcome.',
    fields: {},
  }).read({
    summary: 'Shows the rotations that are in trouble.',
    response: Type.Object({ root: Type.Optional(RotationStatus), static_roles: Statuses, library_accounts: Statuses }),
    handle: async () => {
      const config = await records.config.get(CONFIG);
      return {
        data: {
          ...(await inTrouble(root.rotation, config ? [[CONFIG, config]] : [], () => 'root')),
          static_roles: await inTrouble(accounts.rotation, await records.staticRoles.entries()),
          library_accounts: await inTrouble(library.rotation, await records.accounts.entries(), (_key, { name }) => name),
        },
      };
    },
  });
}
