import { ClientSideError, ExternalServiceError, type DestinationHost, type JsonAnswer } from '@strongroom/sync-sdk';
import { trimmedPath, type VaultConnection } from './connection.ts';
import { dataOf, encodedPath, objectIn, type VaultApi } from './vault-api.ts';
import { VaultRefusal } from './vault-refusal.ts';

/** How long a login may take: it serves every call that waits for it, so none of their deadlines counts. Milliseconds. */
const LOGIN = 30_000;
/** How long the farewell of a session may take. Milliseconds. */
const FAREWELL = 2_000;

interface Held {
  readonly token: string;
  /** When its half-life is over; undefined for one that does not expire, or cannot be renewed. Milliseconds since 1970. */
  readonly dueAt: number | undefined;
  readonly renewable: boolean;
}

/**
 * The token of a session: the configured one, or one by AppRole. Past half of its life it is renewed before the next call; where that is impossible, the AppRole
 * logs in again.
 */
export class VaultLogin {
  readonly #connection: VaultConnection;
  readonly #api: VaultApi;
  readonly #host: Pick<DestinationHost, 'now' | 'log'>;
  #held: Promise<Held> | undefined;

  constructor(connection: VaultConnection, api: VaultApi, host: Pick<DestinationHost, 'now' | 'log'>) {
    this.#connection = connection;
    this.#api = api;
    this.#host = host;
  }

  /** @throws VaultRefusal, ClientSideError, and what the socket says */
  async token(): Promise<string> {
    this.#held ??= this.#begin();
    const asked = this.#held;
    try {
      const held = await asked;
      if (held.dueAt === undefined || this.#host.now().getTime() < held.dueAt) return held.token;
      if (this.#held === asked) this.#held = this.#again(held);
      return (await this.#held).token;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** The server does not take the token any more: the next call asks for it again. */
  forget(): void {
    this.#held = undefined;
  }

  /** Revokes what an AppRole brought. */
  async close(): Promise<void> {
    if (!this.#connection.role_id) return;
    const held = await this.#held?.catch(() => undefined);
    if (!held) return;
    const signal = AbortSignal.timeout(FAREWELL);
    await this.#api.ask({ method: 'POST', path: 'auth/token/revoke-self', token: held.token }, signal).catch(() => undefined);
  }

  async #begin(): Promise<Held> {
    const { token } = this.#connection;
    if (!token) return this.#login();
    const held = token.trim();
    const answer = await this.#api.ask({ method: 'GET', path: 'auth/token/lookup-self', token: held }, AbortSignal.timeout(LOGIN));
    // Policies may forbid the look; the token may still do its work.
    if (answer.status === 403) return { token: held, dueAt: undefined, renewable: false };
    if (answer.status !== 200) throw new VaultRefusal(answer);
    const { ttl, renewable } = dataOf(answer);
    return this.#holding(held, renewable === true ? ttl : 0, renewable);
  }

  async #again(held: Held): Promise<Held> {
    if (held.renewable) {
      const answer = await this.#api.ask(
        { method: 'POST', path: 'auth/token/renew-self', body: '{}', token: held.token },
        AbortSignal.timeout(LOGIN),
      );
      if (answer.status === 200) return this.#granted(answer);
      this.#host.log.warn('the token of a destination cannot be renewed', { status: answer.status });
    }
    return this.#connection.token ? { ...held, dueAt: undefined } : this.#login();
  }

  async #login(): Promise<Held> {
    const { role_id, secret_id, approle_path } = this.#connection;
    const body = JSON.stringify({ role_id: role_id?.trim(), ...(secret_id ? { secret_id: secret_id.trim() } : {}) });
    const answer = await this.#api.ask(
      { method: 'POST', path: `auth/${encodedPath(trimmedPath(approle_path))}/login`, body },
      AbortSignal.timeout(LOGIN),
    );
    if (answer.status === 200) return this.#granted(answer);
    const refusal = new VaultRefusal(answer);
    if (![400, 403, 404].includes(answer.status)) throw refusal;
    throw new ClientSideError(`the login by AppRole is refused with ${answer.status}: ${refusal.message || 'no reason'}`, {
      providerCode: String(answer.status),
    });
  }

  #granted(answer: JsonAnswer): Held {
    const { client_token: token, lease_duration: seconds, renewable } = objectIn(answer.body, 'auth');
    if (typeof token !== 'string' || token === '') throw new ExternalServiceError('the server at address answers a login without a token');
    return this.#holding(token, seconds, renewable);
  }

  #holding(token: string, seconds: unknown, renewable: unknown): Held {
    const life = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined;
    return { token, dueAt: life === undefined ? undefined : this.#host.now().getTime() + life / 2, renewable: renewable === true };
  }
}
