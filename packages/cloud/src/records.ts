import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { rotationPlanFields, rotationStateFields } from '@strongroom/rotation';
import { Type, type Static } from 'typebox';
import { AssumedRoleRecord } from './assumed-role.ts';
import { StsPlacesRecord } from './sts-places.ts';
import { WebIdentityRecord } from './web-identity.ts';

const Texts = Type.Array(Type.String());
const TextMap = Type.Record(Type.String(), Type.String());

export const StoredKey = Type.Object({ access_key: Type.String(), secret_key: Type.String() });

const { pending: _ownKind, demanded: _toldInstead, current: _elsewhere, previous: _retiring, ...times } = rotationStateFields(StoredKey);

/** A replacement of a key that has begun. Stored before anything is changed at the provider. */
const PendingKey = Type.Object({
  user: Type.String(),
  /** The ids of the keys that the user had before. What else the user has by now was made by this replacement. */
  known: Texts,
  /** The key that was deleted to make room, or is about to be. */
  room: Type.Optional(Type.String()),
  /** The new key, once it is there. */
  made: Type.Union([StoredKey, Type.Null()]),
  /** Milliseconds: when the new key was last asked for. */
  begun: Type.Number(),
  claim: Type.String(),
  until: Type.Number(),
});
export type PendingKey = Static<typeof PendingKey>;

/** A user whose keys are changed here, as the registry of accounts knows it. */
export const ManagedUser = Type.Object({
  /** '' where the provider does not say. */
  account: Type.String(),
  user: Type.String(),
});
export type ManagedUser = Static<typeof ManagedUser>;

export const keyStateFields = {
  ...times,
  pending: Type.Optional(PendingKey),
  /** Claimed before the first key is made. Absent in records of versions that claimed nothing. */
  managed: Type.Optional(ManagedUser),
  /** The user for whom the current key was made here. */
  made_for: Type.Optional(Type.String()),
  /** Keys that were replaced and are still there. Milliseconds until they are deactivated and deleted. */
  retiring: Type.Optional(Type.Array(Type.Object({ user: Type.String(), access_key: Type.String(), at: Type.Number() }))),
};

export const RootRecord = Type.Object({
  /** '' for both: what the provider finds by itself. */
  access_key: Type.String(),
  secret_key: Type.String(),
  region: Type.String(),
  iam_endpoint: Type.String(),
  sts_endpoint: Type.String(),
  max_retries: Type.Integer(),
  ...StsPlacesRecord.properties,
  ...WebIdentityRecord.properties,
  /** '' for the provider's. */
  username_template: Type.String(),
  /** Whoever manages the user of this key loses it to this mount, at the first rotation. */
  adopt: Type.Optional(Type.Boolean()),
  ...rotationPlanFields,
  ...keyStateFields,
});
export type RootRecord = Static<typeof RootRecord>;

/** Seconds. */
export const LeaseRecord = Type.Object({ lease: Type.Number(), lease_max: Type.Number() });
export type LeaseRecord = Static<typeof LeaseRecord>;

export const CredentialType = Type.Union([
  Type.Literal('iam_user'),
  Type.Literal('assumed_role'),
  Type.Literal('federation_token'),
  Type.Literal('session_token'),
]);
export type CredentialType = Static<typeof CredentialType>;

export const RoleFields = Type.Object({
  credential_type: CredentialType,
  role_arns: Texts,
  policy_arns: Texts,
  policy_document: Type.String(),
  iam_groups: Texts,
  iam_tags: TextMap,
  default_sts_ttl: Type.Number(),
  max_sts_ttl: Type.Number(),
  user_path: Type.String(),
  permissions_boundary_arn: Type.String(),
  external_id: Type.String(),
  session_tags: TextMap,
  /** Absent in records of versions without session_token, and where it is not given. */
  mfa_serial_number: Type.Optional(Type.String()),
});
export type RoleFields = Static<typeof RoleFields>;

/** A role as it was written: by its fields, or in the old form by one text, which is an ARN or a policy. */
export const RoleRecord = Type.Union([RoleFields, Type.Object({ legacy: Type.String() })]);
export type RoleRecord = Static<typeof RoleRecord>;

export const StaticRoleRecord = Type.Object({
  id: Type.String(),
  username: Type.String(),
  ...rotationPlanFields,
  /** Seconds for which the previous key stays valid after a rotation. */
  grace_period: Type.Number(),
  /** The account that the user is in. */
  account: Type.Optional(Type.String()),
  ...AssumedRoleRecord.properties,
  /** Absent until the first key is there, and while its place is taken by nothing. */
  current: Type.Optional(StoredKey),
  ...keyStateFields,
});
export type StaticRoleRecord = Static<typeof StaticRoleRecord>;

/** A user that was made and not yet taken back. */
export const UserRecord = Type.Object({
  role: Type.String(),
  creation: Type.String(),
  /** Milliseconds. */
  begun: Type.Number(),
  /** Milliseconds: by then its lease is over, however often it is renewed. */
  until: Type.Number(),
  /** The account that it is in, where that was known when it was made. */
  account: Type.Optional(Type.String()),
  /** An operator let go of its lease without removing it. */
  dropped: Type.Optional(Type.Boolean()),
});
export type UserRecord = Static<typeof UserRecord>;

/** The records of a mount, from its storage or inside a transaction. */
export interface Records {
  /** One record, `root`. */
  readonly root: Collection<RootRecord>;
  /** One record, `lease`. */
  readonly lease: Collection<LeaseRecord>;
  readonly roles: Collection<RoleRecord>;
  readonly staticRoles: Collection<StaticRoleRecord>;
  /** The name of the static role of a user, by the user's name; for a user of another account by account and name. */
  readonly staticUsers: Collection<{ role: string }>;
  readonly users: Collection<UserRecord>;
}

export const ROOT = 'root';
export const LEASE = 'lease';
const CONFIG = 'config/';
export const ROOT_KEY = CONFIG + ROOT;

const StaticUser = Type.Object({ role: Type.String() });

export function recordsIn(storage: Pick<StorageView, 'collection'>): Records {
  return {
    root: storage.collection(CONFIG, RootRecord, { cached: true }),
    lease: storage.collection(CONFIG, LeaseRecord),
    roles: storage.collection('role/', RoleRecord),
    staticRoles: storage.collection('static-role/', StaticRoleRecord),
    staticUsers: storage.collection('static-user/', StaticUser),
    users: storage.collection('user/', UserRecord),
  };
}
