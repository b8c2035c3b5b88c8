import { BadRequest, type IssuedAuth, type IssuedSecret } from '@strongroom/engine-sdk';
import { merged, type LeaseStore } from '../services/leases/lease-store.ts';
import type { RepeatOrder } from '../services/leases/repeats.ts';
import { credentialsOfHeader } from '../services/mfa/mfa-credentials.ts';
import { tokenType, type LoginTokens } from '../services/tokens/login-tokens.ts';
import { requireAlive } from '../services/tokens/token-record.ts';
import type { Call } from './call.ts';
import type { CoreResponse } from '../kernel/call/core-response.ts';

/** Registers what the engine issued: the lease of a secret, the token of a login. */
export class Issuing {
  readonly #leases: LeaseStore;
  readonly #logins: LoginTokens;

  constructor(parts: { leases: LeaseStore; logins: LoginTokens }) {
    this.#leases = parts.leases;
    this.#logins = parts.logins;
  }

  /** Undefined where another call with the same idempotency key was faster; what this one made is being undone then. */
  async secret(
    call: Call,
    issued: IssuedSecret,
    answer: CoreResponse,
    room: () => Promise<void>,
    repeat?: RepeatOrder,
  ): Promise<CoreResponse | undefined> {
    const mount = call.mount!;
    const token = call.token;
    // A batch token is stored nowhere: its leases end with it, and with the token that made it.
    const owner = token === undefined ? '' : token.type === 'service' ? token.digest : (token.record.parent ?? '');
    const lease = await this.#leases.register({
      path: call.path,
      mount,
      issued,
      token: owner,
      request: call.id,
      latest: token?.type === 'batch' ? token.record.expires : 0,
      ...(repeat ? { repeat: { ...repeat, data: answer.data, warnings: answer.warnings } } : {}),
      guard: async (tx) => {
        await room();
        if (owner !== '') await requireAlive(tx, owner);
      },
    });
    if (!lease) return undefined;
    if (call.lastUse) throw lastUseRefusal();
    return {
      ...answer,
      leaseId: lease.id,
      leaseDuration: lease.ttl,
      renewable: lease.renewable,
      warnings: merged(answer.warnings, lease.warnings),
    };
  }

  async login(call: Call, issued: IssuedAuth, answer: CoreResponse, room: () => Promise<void>): Promise<CoreResponse> {
    if (tokenType(call.mount!, issued.terms.type) === 'service') await room();
    const { path, remoteAddress, request } = call;
    const credentials = credentialsOfHeader(request.headers?.['x-vault-mfa']);
    const { warnings, ...result } = await this.#logins.issue(call.mount!, issued, { path, remoteAddress, credentials });
    return { ...answer, ...result, warnings: merged(answer.warnings, warnings) };
  }
}

/** The leases of a token end with it. */
export function lastUseRefusal(): BadRequest {
  return new BadRequest('Secret cannot be returned; token had one use left, so leased credentials were immediately revoked.');
}
