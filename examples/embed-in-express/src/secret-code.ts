import type { SecretType } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Doors } from './doors.ts';

/** What a lease keeps, encrypted, so that its code can be renewed and revoked. */
const IssuedCode = Type.Object({ door: Type.String(), code: Type.String(), ttl: Type.Number(), max_ttl: Type.Number() });
export type CodeSecret = SecretType<typeof IssuedCode>;

export function codeSecret(doors: Doors): CodeSecret {
  return {
    type: 'code',
    internal: IssuedCode,
    renew: async ({ internal }) => ({ ttl: internal.ttl, maxTtl: internal.max_ttl }),
    revoke: async ({ internal }) => {
      doors.forbid(internal.door, internal.code);
    },
  };
}
