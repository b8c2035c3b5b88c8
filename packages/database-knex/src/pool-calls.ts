import type { Credential } from '@strongroom/database-sdk';
import type { KnexPool } from './knex-pool.ts';

type Secrets = Readonly<Record<string, string>>;

/** Calls on the connections of a pool, whose failures are told in the SDK's errors and show no secret. */
export class PoolCalls<Connection extends object> {
  readonly #pool: KnexPool<Connection>;
  readonly #secrets: Secrets;
  readonly #failure: (error: unknown, secrets: Secrets) => Error;

  /** `secrets`: what no message may show, by label. `failure`: the error of the SDK for one of the driver or the server. */
  constructor(pool: KnexPool<Connection>, secrets: Secrets, failure: (error: unknown, secrets: Secrets) => Error) {
    this.#pool = pool;
    this.#secrets = secrets;
    this.#failure = failure;
  }

  /** As `KnexPool.use`. The password of `credential` is a secret too. @throws what `failure` makes, or the reason of an aborted signal */
  async run<T>(signal: AbortSignal, credential: Credential | undefined, work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await this.#pool.use(signal, work);
    } catch (error) {
      if (signal.aborted) throw error;
      throw this.#failure(error, { ...this.#secrets, ...(credential?.type === 'password' && { 'new password': credential.password }) });
    }
  }
}
