import { BadRequest, type Collection, type StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { KeyPair, PublicKey } from './key-pair.ts';
import { Algorithm } from './signing-algorithm.ts';

const Texts = Type.Array(Type.String());

/** Spans are seconds, times are milliseconds since the epoch. */
export const NamedKey = Type.Object({
  /** Of the keys that are made from now on. */
  algorithm: Algorithm,
  rotation_period: Type.Number(),
  /** How long a retired key stays published. */
  verification_ttl: Type.Number(),
  /** `*` allows every client. */
  allowed_client_ids: Texts,
  /** It signs. Both are absent until the key is used for the first time. */
  current: Type.Optional(KeyPair),
  /** It is published and signs after the next rotation. */
  next: Type.Optional(KeyPair),
  /** Tokens that it signed under an earlier, longer verification_ttl may be good until then. */
  verifies_until: Type.Optional(Type.Number()),
  /** Tokens that it signed for a role that has another key now may be good until then. */
  left_until: Type.Optional(Type.Number()),
  retired: Type.Array(Type.Object({ public_key: PublicKey, until: Type.Number() })),
  rotated: Type.Number(),
  next_rotation: Type.Number(),
  /** The server itself signs with it, so it is published with those that roles use. */
  signs_for_server: Type.Optional(Type.Boolean()),
});
export type NamedKey = Static<typeof NamedKey>;

export const TokenRole = Type.Object({ key: Type.String(), template: Type.String(), ttl: Type.Number(), client_id: Type.String() });
export type TokenRole = Static<typeof TokenRole>;

export const Assignment = Type.Object({ entity_ids: Texts, group_ids: Texts });
export type Assignment = Static<typeof Assignment>;

export const Scope = Type.Object({ template: Type.String(), description: Type.String() });
export type Scope = Static<typeof Scope>;

export const Client = Type.Object({
  client_id: Type.String(),
  /** Absent for public clients, which cannot keep one. */
  client_secret: Type.Optional(Type.String()),
  client_type: Type.Union([Type.Literal('confidential'), Type.Literal('public')]),
  redirect_uris: Texts,
  assignments: Texts,
  key: Type.String(),
  id_token_ttl: Type.Number(),
  access_token_ttl: Type.Number(),
});
export type Client = Static<typeof Client>;

export const Provider = Type.Object({
  /** Scheme, host and port; '' for the address of the server. */
  issuer: Type.String(),
  allowed_client_ids: Texts,
  scopes_supported: Texts,
});
export type Provider = Static<typeof Provider>;

/** What an authorization code stands for. */
export const Grant = Type.Object({
  provider: Type.String(),
  client_id: Type.String(),
  entity_id: Type.String(),
  redirect_uri: Type.String(),
  scopes: Texts,
  nonce: Type.String(),
  challenge: Type.Optional(Type.Object({ method: Type.Union([Type.Literal('plain'), Type.Literal('S256')]), value: Type.String() })),
  /** Seconds since the epoch: when the person logged in, where the client asked. */
  auth_time: Type.Optional(Type.Number()),
  /** Milliseconds since the epoch. */
  expires: Type.Number(),
});
export type Grant = Static<typeof Grant>;

const Mark = Type.Object({});

export interface OidcRecords {
  readonly config: Collection<{ issuer: string }>;
  readonly keys: Collection<NamedKey>;
  /** `<key>/<kind>/<name>`: who uses a key. */
  readonly keyUsers: Collection<Record<never, never>>;
  readonly roles: Collection<TokenRole>;
  readonly assignments: Collection<Assignment>;
  readonly scopes: Collection<Scope>;
  readonly clients: Collection<Client>;
  /** Client id → name. */
  readonly clientIds: Collection<{ name: string }>;
  readonly providers: Collection<Provider>;
  /** By the digest of the code. */
  readonly grants: Collection<Grant>;
}

/** The collections of identity tokens, over the store or over a transaction. */
export function oidcRecords(view: Pick<StorageView, 'collection'>): OidcRecords {
  return {
    config: view.collection('oidc/config/', Type.Object({ issuer: Type.String() })),
    keys: view.collection('oidc/key/', NamedKey),
    keyUsers: view.collection('oidc/key-user/', Mark),
    roles: view.collection('oidc/role/', TokenRole),
    assignments: view.collection('oidc/assignment/', Assignment),
    scopes: view.collection('oidc/scope/', Scope),
    clients: view.collection('oidc/client/', Client),
    clientIds: view.collection('oidc/client-id/', Type.Object({ name: Type.String() })),
    providers: view.collection('oidc/provider/', Provider),
    grants: view.collection('oidc/code/', Grant),
  };
}

const LONGEST_NAME = 256;

/** Whether a name that came in a body can be that of a record. What cannot is not looked for: it may not fit a key of the store. */
export function isName(name: string): boolean {
  return name.length <= LONGEST_NAME && /^[\w.-]+$/.test(name);
}

/** Names of two records are one key of the store. @throws BadRequest */
export function requireShortName(name: string): void {
  if (name.length > LONGEST_NAME) throw new BadRequest(`the name is longer than ${LONGEST_NAME} characters`);
}
