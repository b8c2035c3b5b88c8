import { readStoredJson, writeStoredJson } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { JsonObject } from '../json/json-pointer.ts';

/** A login that the provider has vouched for, and that a poll will collect. */
const Proven = Type.Object({
  /** The claims, as JSON with exact numbers. */
  claims: Type.String(),
  /** Tokens of the provider that the role wants in the metadata. */
  metadata: Type.Record(Type.String(), Type.String()),
});

/**
 * A login at a provider that has begun and is not complete. It is stored, so that any server of the store can go on with it, under a digest of its state.
 * Times are in milliseconds since the epoch.
 */
export const Flow = Type.Object({
  mode: Type.Enum(['client', 'direct', 'device']),
  role: Type.String(),
  /** The provider and the client with which it began: no other may complete it. */
  provider: Type.String(),
  redirect_uri: Type.String(),
  nonce: Type.String(),
  /** '' without PKCE. */
  code_verifier: Type.String(),
  /** What the program that began it must show; '' for nothing. */
  client_nonce: Type.String(),
  /** The address from which it was begun. */
  begun_from: Type.String(),
  begun: Type.Number(),
  expires: Type.Number(),
  /** Of the device flow. */
  device_code: Type.Optional(Type.String()),
  /** What the provider posted (`form_post`). */
  code: Type.Optional(Type.String()),
  id_token: Type.Optional(Type.String()),
  /** In the mode `direct`: what the browser that posted it was given. Only that browser may confirm the login. */
  browser_key: Type.Optional(Type.String()),
  /** The `iss` that came with it (RFC 9207). */
  answer_issuer: Type.Optional(Type.String()),
  /** A server asks the provider about it; nobody else does until then. */
  busy_until: Type.Optional(Type.Number()),
  proven: Type.Optional(Proven),
  /** Why it failed, for the poll. */
  failure: Type.Optional(Type.String()),
});
export type Flow = Static<typeof Flow>;

/** What a provider has vouched for. */
export interface ProvenLogin {
  /** Those of the ID token, and of userinfo. */
  readonly claims: JsonObject;
  /** Tokens of the provider that the role wants in the metadata. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** As it is stored. */
export function storedLogin({ claims, metadata }: ProvenLogin): NonNullable<Flow['proven']> {
  return { claims: writeStoredJson(claims), metadata: { ...metadata } };
}

export function provenIn({ proven }: Flow): ProvenLogin | undefined {
  return proven && { claims: readStoredJson(proven.claims) as JsonObject, metadata: proven.metadata };
}

/** Nothing came of the flow yet. */
export function isOpen(flow: Flow): boolean {
  return flow.proven === undefined && flow.failure === undefined;
}
