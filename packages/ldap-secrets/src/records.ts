import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { rotationPlanFields, rotationStateFields } from '@strongroom/rotation';
import { Type, type Static } from 'typebox';
import { LdapSecretsConfig } from './config.ts';

const Texts = Type.Array(Type.String());

export const StaticRoleRecord = Type.Object({
  username: Type.String(),
  /** As written; '' where the account is found by its username. */
  dn: Type.String(),
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

/** A generated name that could come again is kept while its account lives. */
export const TakenName = Type.Object({ role: Type.String() });

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
  since: Type.Number(),
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
  readonly takenNames: Collection<Static<typeof TakenName>>;
  readonly sets: Collection<LibrarySetRecord>;
  readonly accounts: Collection<LibraryAccountRecord>;
  readonly claims: Collection<Claim>;
  /** One record, `SALT`. */
  readonly salt: Collection<Static<typeof Salt>>;
}

export const CONFIG = 'ldap';
export const SALT = 'borrowers';
export const ACCOUNTS = 'account/';

export function recordsIn(storage: Pick<StorageView, 'collection'>): Records {
  return {
    config: storage.collection('config/', LdapSecretsConfig),
    staticRoles: storage.collection('static-role/', StaticRoleRecord),
    roles: storage.collection('role/', DynamicRoleRecord),
    takenNames: storage.collection('name/', TakenName),
    sets: storage.collection('library/', LibrarySetRecord),
    // Other processes tell when one comes back: check-outs wait for that.
    accounts: storage.collection(ACCOUNTS, LibraryAccountRecord, { cached: true }),
    claims: storage.collection('managed/', Claim),
    salt: storage.collection('salt/', Salt),
  };
}

/** Directories do not tell names by their case. */
export function accountKey(name: string): string {
  return name.trim().toLowerCase();
}
