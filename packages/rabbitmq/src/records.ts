import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { rotationPlanFields, rotationStateFields } from '@strongroom/rotation';
import { Type, type Static } from 'typebox';
import { Connection } from './connection.ts';

export const LeaseConfig = Type.Object({ ttl: Type.Number(), max_ttl: Type.Number() });

const Permission = Type.Object({ configure: Type.String(), write: Type.String(), read: Type.String() });
const TopicPermission = Type.Object({ write: Type.String(), read: Type.String() });

export const RoleRecord = Type.Object({
  /** As written: names separated by commas. */
  tags: Type.String(),
  vhosts: Type.Record(Type.String(), Permission),
  /** By virtual host and exchange. */
  vhost_topics: Type.Record(Type.String(), Type.Record(Type.String(), TopicPermission)),
});
export type RoleRecord = Static<typeof RoleRecord>;

export const StaticRoleRecord = Type.Object({
  username: Type.String(),
  ...rotationPlanFields,
  ...rotationStateFields(Type.String()),
});
export type StaticRoleRecord = Static<typeof StaticRoleRecord>;

/** A user that this mount has made, by its name. Kept from before its creation until it is gone. */
export const MadeUser = Type.Object({
  role: Type.String(),
  /** Its lease was revoked by force: nothing deletes the user any more. */
  dropped: Type.Optional(Type.Boolean()),
});
export type MadeUser = Static<typeof MadeUser>;

/** The records of a mount, from its storage or inside a transaction. */
export interface Records {
  /** One record, `CONNECTION`. */
  readonly connection: Collection<Connection>;
  /** One record, `LEASE`. */
  readonly lease: Collection<Static<typeof LeaseConfig>>;
  readonly roles: Collection<RoleRecord>;
  readonly staticRoles: Collection<StaticRoleRecord>;
  readonly users: Collection<MadeUser>;
}

export const CONNECTION = 'connection';
export const LEASE = 'lease';

export function recordsIn(storage: Pick<StorageView, 'collection'>): Records {
  return {
    connection: storage.collection('connection/', Connection),
    lease: storage.collection('lease/', LeaseConfig),
    roles: storage.collection('role/', RoleRecord),
    staticRoles: storage.collection('static-role/', StaticRoleRecord),
    users: storage.collection('user/', MadeUser),
  };
}
