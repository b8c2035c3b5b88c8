import { TotpParameters } from '@strongroom/otp';
import { Type, type Static } from 'typebox';
import { SingleRecord } from '../../kernel/storage/records.ts';

/** A way to prove a second factor, and how secrets for it are made. */
export const TotpMethod = Type.Object({
  id: Type.String(),
  /** '' for none. */
  name: Type.String(),
  issuer: Type.String(),
  ...TotpParameters.properties,
  /** Bytes of a secret. */
  key_size: Type.Number(),
  /** Pixels; 0 for no picture. */
  qr_size: Type.Number(),
  /** Periods before and after the current one whose codes are taken as well. */
  skew: Type.Number(),
  max_validation_attempts: Type.Number(),
});
export type TotpMethod = Static<typeof TotpMethod>;

const Texts = Type.Array(Type.String());

/** Which logins need a second factor, and by which methods it can be proven. */
export const LoginEnforcement = Type.Object({
  id: Type.String(),
  name: Type.String(),
  mfa_method_ids: Texts,
  auth_method_accessors: Texts,
  auth_method_types: Texts,
  identity_group_ids: Texts,
  identity_entity_ids: Texts,
});
export type LoginEnforcement = Static<typeof LoginEnforcement>;

const MfaSettings = Type.Object({ methods: Type.Array(TotpMethod), enforcements: Type.Array(LoginEnforcement) });
export type MfaSettings = Static<typeof MfaSettings>;

/**
 * All methods and enforcements, in one record: an enforcement and the deletion of its method cannot pass each other, and a login reads one record. It is
 * read at each login, so that an enforcement holds on every server as soon as it is written.
 */
export const mfaSettings = new SingleRecord('core/mfa/settings', MfaSettings);

export const NO_SETTINGS: MfaSettings = { methods: [], enforcements: [] };
