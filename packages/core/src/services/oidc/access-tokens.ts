import { Type, type Static } from 'typebox';
import { compileSchema, type Clock } from '@strongroom/engine-sdk';
import type { Barrier } from '../../kernel/barrier/barrier.ts';

const NAME = 'oidc-access-token';

const AccessGrant = Type.Object({
  provider: Type.String(),
  client_id: Type.String(),
  entity_id: Type.String(),
  scopes: Type.Array(Type.String()),
  /** Milliseconds since the epoch. */
  expires: Type.Number(),
});
/** What an access token allows: to ask one provider about one person. */
export type AccessGrant = Static<typeof AccessGrant>;

const problemOf = compileSchema(AccessGrant);

/**
 * Access tokens of the providers. Like a batch token, one is stored nowhere: it holds what it allows, encrypted. It is no token of the server, so an
 * application that has it cannot call anything but `userinfo`.
 */
export class AccessTokens {
  readonly #barrier: Barrier;
  readonly #clock: Clock;

  constructor(parts: { barrier: Barrier; clock: Clock }) {
    this.#barrier = parts.barrier;
    this.#clock = parts.clock;
  }

  issue(grant: AccessGrant): string {
    return this.#barrier.ring.encrypt(NAME, Buffer.from(JSON.stringify(grant))).toString('base64url');
  }

  /** Undefined for anything that is none, or none any more. */
  open(token: string): AccessGrant | undefined {
    let grant: unknown;
    try {
      grant = JSON.parse(this.#barrier.ring.decrypt(NAME, Buffer.from(token, 'base64url')).toString());
    } catch {
      return undefined;
    }
    if (problemOf(grant) !== undefined) return undefined;
    return (grant as AccessGrant).expires > this.#clock.millis() ? (grant as AccessGrant) : undefined;
  }
}
