import type { MethodDefinition } from '@grpc/grpc-js';
import { Endpoint } from './endpoint.ts';
import { asFailure, isLoginOver, isRefusal } from './failure.ts';
import { addressesOf, channelCredentials, type EtcdOptions } from './options.ts';
import { AUTHENTICATE } from './wire.ts';

/** The members, one of which is used until it does not answer. */
export class Cluster {
  readonly endpoints: readonly Endpoint[];
  readonly #login: { readonly name: string; readonly password: string } | undefined;
  #current: number;
  #token: string | undefined;
  #authenticating: Promise<string> | undefined;

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

  /** The next one, for everybody, unless somebody has moved on already. */
  leave(endpoint: Endpoint): void {
    if (this.current === endpoint) this.#current = (this.#current + 1) % this.endpoints.length;
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

  /** The next call logs in anew. */
  forgetLogin(): void {
    this.#token = undefined;
  }

  close(): void {
    for (const endpoint of this.endpoints) endpoint.close();
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
