import { recordPaths } from '@strongroom/auth-sdk';
import type { AnyPath, StorageView } from '@strongroom/engine-sdk';
import { roleData, roleFields, roles, roleWarnings, writtenRole, type Role } from './role.ts';

export function rolePaths(storage: StorageView): AnyPath[] {
  return recordPaths({
    at: 'role',
    capture: 'name',
    noun: 'role',
    synopsis: 'Configure a role: the service accounts to accept, and the tokens to issue.',
    description:
      'A write changes only the parameters that it contains, except that it removes an omitted namespace selector. Existing tokens keep their policies.',
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
