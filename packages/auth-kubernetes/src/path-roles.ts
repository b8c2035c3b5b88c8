import { recordPaths } from '@strongroom/auth-sdk';
import type { AnyPath, StorageView } from '@strongroom/engine-sdk';
import { roleData, roleFields, roles, roleWarnings, writtenRole, type Role } from './role.ts';

export function rolePaths(storage: StorageView): AnyPath[] {
  return recordPaths({
    at: 'role',
    capture: 'name',
    noun: 'role',
    synopsis: 'A role: which service accounts log in, and what tokens they get.',
    description:
      'A write changes what it sends, but a namespace selector that it leaves out is removed. Tokens that were issued keep their policies.',
    fields: roleFields,
    storage,
    records: roles,
    read: roleData,
    write: async (stored: Role | undefined, { data, supplied }) => {
      const record = await writtenRole(stored, data, supplied);
      return { record, warnings: roleWarnings(record) };
    },
  });
}
