import { BadRequest, f } from '@strongroom/engine-sdk';
import { checkCredentialConfig, checkCredentialType } from './credential-config.ts';
import type { RoleRecord } from './records.ts';
import { credentialFields } from './role-fields.ts';

const OWNED_OBJECTS = ['fail', 'reassign', 'drop'] as const;

/** The fields of a dynamic role. */
export const roleFields = {
  db_name: f.string('Name of the connection.', { title: 'Connection' }),
  default_ttl: f.duration("Length of a lease; 0 for the mount's own."),
  max_ttl: f.duration("Length that renewals can reach; 0 for the mount's own, which is also the most."),
  creation_statements: f.statements('Statements that make and equip a user.'),
  revocation_statements: f.statements("Statements that take a user away. Empty: the plugin's own."),
  end_sessions: f.bool(
    "Shut the login and end the user's sessions before the user is removed. On for new roles. A role with revocation_statements always does.",
  ),
  on_owned_objects: f.string(
    'What the removal does with what the user owns: fail (default), reassign it to the user of the connection, or drop it. Without revocation_statements.',
    { values: OWNED_OBJECTS },
  ),
  rollback_statements: f.statements('Statements that clean up after a creation that failed half-way.'),
  renew_statements: f.statements("Statements that move a user's expiry. Empty: the plugin's own."),
  ...credentialFields,
};

export type SentRole = {
  readonly [K in keyof RoleRecord]: (K extends 'credential_type' | 'on_owned_objects' ? string : RoleRecord[K]) | undefined;
};

/** A role after a write: what was sent replaces what was there. @throws BadRequest */
export function roleAfter(before: RoleRecord | undefined, sent: SentRole): RoleRecord {
  const dbName = sent.db_name ?? before?.db_name ?? '';
  if (dbName === '') throw new BadRequest('database name is required');
  const type = checkCredentialType(sent.credential_type ?? before?.credential_type ?? 'password');
  const options = sent.credential_config ?? (type === before?.credential_type ? before.credential_config : {});
  checkCredentialConfig(type, options);
  const record: RoleRecord = {
    db_name: dbName,
    default_ttl: sent.default_ttl ?? before?.default_ttl ?? 0,
    max_ttl: sent.max_ttl ?? before?.max_ttl ?? 0,
    creation_statements: sent.creation_statements ?? before?.creation_statements ?? [],
    revocation_statements: sent.revocation_statements ?? before?.revocation_statements ?? [],
    end_sessions: sent.end_sessions ?? before?.end_sessions ?? before === undefined,
    on_owned_objects: ownedObjects(sent.on_owned_objects ?? before?.on_owned_objects ?? 'fail'),
    rollback_statements: sent.rollback_statements ?? before?.rollback_statements ?? [],
    renew_statements: sent.renew_statements ?? before?.renew_statements ?? [],
    credential_type: type,
    credential_config: options,
  };
  if (record.max_ttl > 0 && record.default_ttl > record.max_ttl) {
    throw new BadRequest(`default_ttl (${record.default_ttl} s) is longer than max_ttl (${record.max_ttl} s)`);
  }
  if (record.on_owned_objects !== 'fail' && record.revocation_statements.length > 0) {
    throw new BadRequest(
      'on_owned_objects is for the removal by the plugin: put what is to be done into revocation_statements, or leave them out',
    );
  }
  return record;
}

/** @throws BadRequest */
function ownedObjects(word: string): (typeof OWNED_OBJECTS)[number] {
  const known = OWNED_OBJECTS.find((one) => one === word);
  if (!known) throw new BadRequest(`on_owned_objects must be one of ${OWNED_OBJECTS.join(', ')}`);
  return known;
}
