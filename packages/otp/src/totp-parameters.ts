import { Type, type Static } from 'typebox';

/** How codes are made from a key and the time. */
export const TotpParameters = Type.Object({
  algorithm: Type.Union([Type.Literal('SHA1'), Type.Literal('SHA256'), Type.Literal('SHA512')]),
  digits: Type.Union([Type.Literal(6), Type.Literal(8)]),
  /** Seconds for which a code is shown. */
  period: Type.Number(),
});
/** How codes are made from a key and the time. */
export type TotpParameters = Static<typeof TotpParameters>;
