import { Type, type Static } from 'typebox';

/** How codes are made from a key and the time. */
export const TotpParameters = Type.Object({
  algorithm: Type.Union([Type.Literal('SHA1'), Type.Literal('SHA256'), Type.Literal('SHA512')]),
  digits: Type.Union([Type.Literal(6), Type.Literal(8)]),
  /** Seconds for which a code is shown. */
  period: Type.Number(),
});
export type TotpParameters = Static<typeof TotpParameters>;

/** The second factor of an entity for one method, and what was tried with it. Times are milliseconds since the epoch. */
export const MfaSecret = Type.Object({
  method_id: Type.String(),
  ...TotpParameters.properties,
  issuer: Type.String(),
  /** Base64. */
  key: Type.String(),
  created: Type.Number(),
  /** Steps whose code was used, as far as that code could still come. */
  used_steps: Type.Array(Type.Number()),
  /** Wrong codes since the last right one, or since a day without any. */
  failures: Type.Number(),
  last_failure: Type.Optional(Type.Number()),
  /** Nothing is compared until then. */
  paused_until: Type.Optional(Type.Number()),
});
export type MfaSecret = Static<typeof MfaSecret>;

/** The secrets of one entity: one record, so that whoever deletes or merges the entity cannot miss one that is being made. */
export const MfaSecrets = Type.Object({ secrets: Type.Array(MfaSecret) });
