import { recordPaths, roleTokenData } from '@strongroom/auth-sdk';
import type { AnyPath, StorageView } from '@strongroom/engine-sdk';
import { mergeRole, roleWarnings } from './merge-role.ts';
import { roleFields } from './role-fields.ts';
import { rolesOf, type Role } from './role.ts';

export function rolePaths(storage: StorageView): AnyPath[] {
  return recordPaths({
    at: 'role',
    capture: 'name',
    noun: 'role',
    synopsis: 'Configure a role: the tokens to accept, and the tokens to issue.',
    description:
      'A write changes only the parameters that it contains, except that it resets role_type, bound_claims_type, callback_mode and oidc_disable_confirmation if ' +
      'they are omitted. A role with role_type=jwt requires at least one of bound_audiences, bound_subject, bound_claims and token_bound_cidrs.',
    fields: roleFields,
    exactNumbers: true,
    storage,
    records: rolesOf,
    read: shownRole,
    write: (stored, req) => {
      const record = mergeRole(stored, req.data, req.supplied);
      return { record, warnings: roleWarnings(record) };
    },
  });
}

/** What a read shows: lists and maps that are not set as null, and our own parameters and poll_interval only if they are set. */
function shownRole(role: Role): Record<string, unknown> {
  const { old_names: _old, max_token_age, reject_replays, poll_interval, ...fields } = role;
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) shown[name] = isEmpty(value) ? null : value;
  return {
    ...shown,
    ...(max_token_age === 0 ? {} : { max_token_age }),
    ...(reject_replays ? { reject_replays } : {}),
    ...(poll_interval === 0 ? {} : { poll_interval }),
    ...roleTokenData(role),
  };
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
