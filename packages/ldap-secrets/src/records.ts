import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { rotationPlanFields, rotationStateFields } from '@strongroom/rotation';
import { Type, type Static } from 'typebox';
import { LdapSecretsConfig } from './config.ts';

const Texts = Type.Array(Type.String());

export const StaticRoleRecord = Type.Object({
  username: Type.String(),
  /** As written; '' where the account is found by its username. */
  dn: Type.String(),
  /** Name of the password policy for this account; absent where the configuration decides. */
  password_policy: Type.Optional(Type.String()),
  /** Under what the account is known to be managed: see ManagedAccounts. */
  claims: Texts,
  ...rotationPlanFields,
  ...rotationStateFields(Type.String()),
});
export type StaticRoleRecord = Static<typeof StaticRoleRecord>;

export const DynamicRoleRecord = Type.Object({
  creation_ldif: Type.String(),
  deletion_ldif: Type.String(),
  rollback_ldif: Type.String(),
  username_template: Type.String(),
  default_ttl: Type.Number(),
  max_ttl: Type.Number(),
});
export type DynamicRoleRecord = Static<typeof DynamicRoleRecord>;

/** An account of a dynamic role, by `accountKey` of its name. Kept from before its creation until it is gone, or until somebody removes it as an orphan. */
export const MadeAccount = Type.Object({
  role: Type.String(),
  /** Absent in records of older releases, which kept only names that could come again. */
  username: Type.Optional(Type.String()),
  /** Its entries, and nobody else's. */
  entries: Type.Optional(Texts),
  deletion_ldif: Type.Optional(Type.String()),
  /** Its lease was revoked by force: nothing takes the account away any more. */
  dropped: Type.Optional(Type.Boolean()),
  /** Somebody asked for its removal, and the journal sees to it. */
  removing: Type.Optional(Type.Boolean()),
});
export type MadeAccount = Static<typeof MadeAccount>;

export const LibrarySetRecord = Type.Object({
  /** As written, in the order in which they are lent. */
  service_account_names: Texts,
  ttl: Type.Number(),
  max_ttl: Type.Number(),
  disable_check_in_enforcement: Type.Boolean(),
});
export type LibrarySetRecord = Static<typeof LibrarySetRecord>;

export const Loan = Type.Object({
  id: Type.String(),
  /** '' for a token without an entity. */
  entity: Type.String(),
  /** A salted digest of the borrower's token. */
  token: Type.String(),
  /** The display name of the borrower's token. Absent in records of older releases. */
  displayName: Type.Optional(Type.String()),
  since: Type.Number(),
  /** When its lease ends at the latest, in milliseconds. Absent for a loan without limit, and for those of older releases. */
  until: Type.Optional(Type.Number()),
  /** The loan goes on after its lease has ended. */
  unlimited: Type.Boolean(),
});
export type Loan = Static<typeof Loan>;

/** An account of the library, by `accountKey`. It is lent when its password has been changed since the last loan. */
export const LibraryAccountRecord = Type.Object({
  name: Type.String(),
  set: Type.String(),
  claims: Texts,
  loan: Type.Optional(Loan),
  ...rotationStateFields(Type.String()),
});
export type LibraryAccountRecord = Static<typeof LibraryAccountRecord>;

/** A caller who waits for an account of a set. Times in milliseconds. */
export const Ticket = Type.Object({
  id: Type.String(),
  /** '' for a token without an entity. */
  entity: Type.String(),
  /** A salted digest of the caller's token. */
  token: Type.String(),
  /** The display name of the caller's token. Absent in records of older releases. */
  displayName: Type.Optional(Type.String()),
  since: Type.Number(),
  /** When the caller gives up. */
  until: Type.Number(),
  /** When the process that holds the request last confirmed it. */
  seen: Type.Number(),
});
export type Ticket = Static<typeof Ticket>;

/** Who waits for a set, in all processes of the store; who came first is first. */
export const QueueRecord = Type.Object({ tickets: Type.Array(Ticket) });

/** Who manages an account: a static role or an account of the library, by its id. */
export const Claim = Type.Object({
  kind: Type.Union([Type.Literal('static-role'), Type.Literal('library')]),
  owner: Type.String(),
});
export type Claim = Static<typeof Claim>;

export const Salt = Type.Object({ salt: Type.String() });

/** The records of a mount, from its storage or inside a transaction. */
export interface Records {
  /** One record, `CONFIG`. */
  readonly config: Collection<LdapSecretsConfig>;
  readonly staticRoles: Collection<StaticRoleRecord>;
  readonly roles: Collection<DynamicRoleRecord>;
  readonly made: Collection<MadeAccount>;
  readonly sets: Collection<LibrarySetRecord>;
  readonly accounts: Collection<LibraryAccountRecord>;
  /** By the name of the set. */
  readonly queues: Collection<Static<typeof QueueRecord>>;
  readonly claims: Collection<Claim>;
  /** One record, `SALT`. */
  readonly salt: Collection<Static<typeof Salt>>;
}

export const CONFIG = 'ldap';
export const SALT = 'borrowers';
export const ACCOUNTS = 'account/';
export const QUEUES = 'queue/';

export function recordsIn(storage: Pick<StorageView, 'collection'>): Records {
  return {
    config: storage.collection('config/', LdapSecretsConfig),
    staticRoles: storage.collection('static-role/', StaticRoleRecord),
    roles: storage.collection('role/', DynamicRoleRecord),
    made: storage.collection('name/', MadeAccount),
    sets: storage.collection('library/', LibrarySetRecord),
    // Other processes tell when one comes back, and when the next in the queue is theirs or ours: check-outs wait for that.
    accounts: storage.collection(ACCOUNTS, LibraryAccountRecord, { cached: true }),
    queues: storage.collection(QUEUES, QueueRecord, { cached: true }),
    claims: storage.collection('managed/', Claim),
    salt: storage.collection('salt/', Salt),
  };
}

/** Directories do not tell names by their case. */
export function accountKey(name: string): string {
  return name.trim().toLowerCase();
}
