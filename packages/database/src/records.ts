import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { rotationPlanFields, rotationStateFields } from '@strongroom/rotation';
import { Type, type Static, type TObject } from 'typebox';
import { ConnectionLimits } from './connection-limits.ts';

const Texts = Type.Array(Type.String());
const TextMap = Type.Record(Type.String(), Type.String());

/** A credential as the host made it: what the plugin installs, and what the client gets. `username`: whose it is, where the record has several users. */
export const StoredCredential = Type.Object({ credential: TextMap, data: TextMap, username: Type.Optional(Type.String()) });

const { current: _inDetails, previous: _notKept, retiring: _atOnce, ...rootFields } = rotationStateFields(StoredCredential);

export const ConnectionRecord = Type.Object({
  /** Of this connection, not of its name: a connection that is deleted and made again is another one. */
  id: Type.String(),
  /** Grows with every change that a session must see. */
  revision: Type.Integer(),
  plugin_name: Type.String(),
  plugin_version: Type.String(),
  allowed_roles: Texts,
  root_rotation_statements: Texts,
  password_policy: Type.String(),
  verify_connection: Type.Boolean(),
  /** Whether static roles leave the credential as it is at creation; absent in records of older releases. */
  skip_static_role_import_rotation: Type.Optional(Type.Boolean()),
  /** It has no user of its own: those of static roles change their own passwords. */
  self_managed: Type.Optional(Type.Boolean()),
  details: Type.Record(Type.String(), Type.Unknown()),
  /** Which of the details are secret, as the plugins said that they were written for: they stay so where a plugin is missing or replaced. */
  secret_fields: Type.Optional(Texts),
  /** Absent for the usual ones. */
  limits: Type.Optional(ConnectionLimits),
  /** When the root password is rotated by itself; absent in records of older releases. */
  plan: Type.Optional(Type.Object(rotationPlanFields)),
  /** Where the rotation of the root password stands; the password itself is among the details. */
  root: Type.Optional(Type.Object(rootFields)),
});
export type ConnectionRecord = Static<typeof ConnectionRecord>;

/** The record as if no rotation were under way or asked for: its own password is the one to use. */
export function unsettled(record: ConnectionRecord): ConnectionRecord {
  if (record.root?.pending === undefined && record.root?.demanded === undefined) return record;
  const { pending: _open, demanded: _asked, ...root } = record.root;
  return { ...record, root };
}

/** A connection that was deleted while users made through it were still there. */
export const RetiredConnection = Type.Object({ name: Type.String(), record: ConnectionRecord });
export type RetiredConnection = Static<typeof RetiredConnection>;

export const CredentialTypeName = Type.Union([
  Type.Literal('password'),
  Type.Literal('rsa_private_key'),
  Type.Literal('client_certificate'),
]);

/** How a user is removed. Roles and leases of older releases have its statements alone. */
export const removalFields = {
  revocation_statements: Texts,
  end_sessions: Type.Optional(Type.Boolean()),
  on_owned_objects: Type.Optional(Type.Union([Type.Literal('fail'), Type.Literal('reassign'), Type.Literal('drop')])),
};
export type Removal = Static<TObject<typeof removalFields>>;

export const RoleRecord = Type.Object({
  db_name: Type.String(),
  default_ttl: Type.Number(),
  max_ttl: Type.Number(),
  creation_statements: Texts,
  ...removalFields,
  rollback_statements: Texts,
  renew_statements: Texts,
  credential_type: CredentialTypeName,
  credential_config: TextMap,
});
export type RoleRecord = Static<typeof RoleRecord>;

export const StaticRoleRecord = Type.Object({
  db_name: Type.String(),
  /** Of a pair: the first of it. */
  username: Type.String(),
  /** Of a pair: both users, see `static-pair.ts`. */
  usernames: Type.Optional(Texts),
  /** Of a pair: the account of the second user; the first one's is `managed_account`. */
  second_account: Type.Optional(Type.Object({ system: Type.String(), name: Type.String() })),
  ...rotationPlanFields,
  /** Seconds for which the password before a rotation stays good; absent: it ends with the rotation. */
  grace_period: Type.Optional(Type.Number()),
  /** The user changes its own password. */
  self_managed: Type.Optional(Type.Boolean()),
  rotation_statements: Texts,
  credential_type: CredentialTypeName,
  credential_config: TextMap,
  ...rotationStateFields(StoredCredential),
});
export type StaticRoleRecord = Static<typeof StaticRoleRecord>;

/** A user that was made and not yet taken back. */
export const UserRecord = Type.Object({
  role: Type.String(),
  /** Its creation failed, and the journal is about to clean up. */
  undoing: Type.Optional(Type.Boolean()),
  /** Its lease was dropped by force: nobody will remove it unless asked to. */
  dropped: Type.Optional(Type.Boolean()),
});
export type UserRecord = Static<typeof UserRecord>;

/** The records of a mount, from its storage or inside a transaction. */
export interface Records {
  readonly connections: Collection<ConnectionRecord>;
  /** By the connection's id. */
  readonly retired: Collection<RetiredConnection>;
  readonly roles: Collection<RoleRecord>;
  readonly staticRoles: Collection<StaticRoleRecord>;
  /** By `userKey`. */
  readonly users: Collection<UserRecord>;
}

export const CONNECTIONS = 'config/';

export function recordsIn(storage: Pick<StorageView, 'collection'>): Records {
  return new RecordsIn(storage);
}

/** Each collection when it is asked for: most work needs one or two, and asks again in every transaction. */
class RecordsIn implements Records {
  readonly #storage: Pick<StorageView, 'collection'>;

  constructor(storage: Pick<StorageView, 'collection'>) {
    this.#storage = storage;
  }

  get connections(): Collection<ConnectionRecord> {
    return this.#storage.collection(CONNECTIONS, ConnectionRecord, { cached: true });
  }

  get retired(): Collection<RetiredConnection> {
    return this.#storage.collection('retired/', RetiredConnection);
  }

  get roles(): Collection<RoleRecord> {
    return this.#storage.collection('role/', RoleRecord);
  }

  get staticRoles(): Collection<StaticRoleRecord> {
    return this.#storage.collection('static-role/', StaticRoleRecord);
  }

  get users(): Collection<UserRecord> {
    return this.#storage.collection('user/', UserRecord);
  }
}

export function userKey(connectionId: string, username: string): string {
  return `${connectionId}/${username}`;
}
