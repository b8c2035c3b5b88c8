import { TotpParameters, TriedCodes } from '@strongroom/otp';
import { Type, type Static } from 'typebox';

/** The second factor of an entity for one method, and what was tried with it. Times are milliseconds since the epoch. */
export const MfaSecret = Type.Object({
  method_id: Type.String(),
  ...TotpParameters.properties,
  issuer: Type.String(),
  /** Base64. */
  key: Type.String(),
  created: Type.Number(),
  ...TriedCodes.properties,
});
export type MfaSecret = Static<typeof MfaSecret>;

/** The secrets of one entity: one record, so that whoever deletes or merges the entity cannot miss one that is being made. */
export const MfaSecrets = Type.Object({ secrets: Type.Array(MfaSecret) });
