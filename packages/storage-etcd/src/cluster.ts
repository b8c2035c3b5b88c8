import type { MethodDefinition } from '@grpc/grpc-js';
import { Endpoint } from './endpoint.ts';
import { asFailure, isLoginOver, isRefusal } from './failure.ts';
import { addressesOf, channelCredentials, type EtcdOptions } from './options.ts';
import { AUTHENTICATE, STATUS } from './wire.ts';

/** How long the other members have to say that they are alive, when one was left. */
const ALIVE_MS = 400;

/** The members, one of which is used until it does not answer. */
export class Cluster {
  readonly endpoints: readonly Endpoint[];
  readonly #login: { readonly name: string; readonly password: string } | undefined;
  #current: number;
  #token: string | undefined;
  #authenticating: Promise<string> | undefined;
  #moving: Promise<void> | undefined;

  /** @throws StorageFailure for options that cannot be used */
  constructor(options: EtcdOptions) {
    const credentials = channelCredentials(options);
    this.endpoints = addressesOf(options).map((address) => new Endpoint(address, credentials(address)));
    // Servers of one store begin at different members.
    this.#current = Math.floor(Math.random() * this.endpoints.length);
    const { username, password } = options;
    this.#login = username === undefined || password === undefined ? undefined : { name: username, password };
  }

  get current(): Endpoint {
    return this.endpoints[this.#current]!;
  }

  /** The one to call now. */
  async chosen(): Promise<Endpoint> {
    await this.#moving;
    return this.current;
  }

  /**
   * Another one, for everybody, unless somebody has moved on already: the first of the others to say that it knows a leader, or else the next in order, so that no
   * call waits for a second member that does not answer.
   */
  leave(endpoint: Endpoint): void {
    if (this.current !== endpoint) return;
    this.#current = (this.#current + 1) % this.endpoints.length;
    this.#moving ??= this.#move(endpoint).finally(() => (this.#moving = undefined));
  }

  /** @throws what gRPC throws; a login that is over is renewed once */
  async call<Request, Response>(
    endpoint: Endpoint,
    method: MethodDefinition<Request, Response>,
    request: Request,
    millis: number,
  ): Promise<Response> {
    const token = await this.token(endpoint, millis);
    try {
      return await endpoint.call(method, request, millis, token);
    } catch (error) {
      if (token === undefined || !isLoginOver(error)) throw error;
      if (this.#token === token) this.#token = undefined;
      return endpoint.call(method, request, millis, await this.token(endpoint, millis));
    }
  }

  /** What calls are made with; undefined without a user. @throws StorageFailure, and what gRPC throws */
  async token(endpoint: Endpoint, millis: number): Promise<string | undefined> {
    if (!this.#login || this.#token !== undefined) return this.#token;
    this.#authenticating ??= this.#authenticate(endpoint, millis).finally(() => (this.#authenticating = undefined));
    return this.#authenticating;
  }

  /** The next call logs in again. */
  forgetLogin(): void {
    this.#token = undefined;
  }

  close(): void {
    for (const endpoint of this.endpoints) endpoint.close();
  }

  /** Never rejects. */
  async #move(left: Endpoint): Promise<void> {
    const others = this.endpoints.filter((endpoint) => endpoint !== left);
    const alive = others.map(async (endpoint) => {
      const { leader } = await endpoint.call(STATUS, {}, ALIVE_MS, this.#token);
      if (Number(leader ?? 0) === 0) throw new Error('it knows no leader');
      return endpoint;
    });
    await Promise.any(alive).then(
      (endpoint) => (this.#current = this.endpoints.indexOf(endpoint)),
      () => undefined,
    );
  }

  async #authenticate(endpoint: Endpoint, millis: number): Promise<string> {
    try {
      const { token } = await endpoint.call(AUTHENTICATE, this.#login!, millis);
      this.#token = token;
      return token;
    } catch (error) {
      throw isRefusal(error) ? asFailure(error) : error;
    }
  }
}
