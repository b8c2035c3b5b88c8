import { Type, type Static } from 'typebox';
import { SingleRecord } from '../../kernel/storage/records.ts';

/** An attempt to make a root token, in the store for all servers of it. */
export const RootGenerationRecord = Type.Object({
  nonce: Type.String(),
  /** What the token will be encoded with; exactly one of it and the key is there. */
  otp: Type.Optional(Type.String()),
  pgp_key: Type.Optional(Type.String()),
  /** Of the key; '' without one. */
  fingerprint: Type.String(),
  /** Milliseconds. The key was found fit then, and is used as of then. */
  begun: Type.Number(),
  /** When a share was given last, or it was begun; milliseconds. */
  touched: Type.Number(),
  given: Type.Array(Type.String()),
});
export type RootGenerationRecord = Static<typeof RootGenerationRecord>;

export const ROOT_GENERATION = new SingleRecord('core/root-generation', RootGenerationRecord);
