import { foreignText, UpstreamFailed, Unavailable, type Clock } from '@strongroom/engine-sdk';
import type { Configuration, CustomFetchOptions, ServerMetadata } from 'openid-client';
import type { Setup } from '../config/setup.ts';
import type { JsonObject } from '../json/json-pointer.ts';
import { endpointOf, type DiscoveryDocument } from '../keys/discovery.ts';
import { IssuerRefused, type IssuerHttp } from '../keys/issuer-http.ts';
import { loginFailed, noResponse, verificationFailed } from './refusals.ts';

type Library = typeof import('openid-client');

/** What the library says of an answer that is none of OAuth 2.0: the provider is out of order. */
const GARBAGE: ReadonlySet<unknown> = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** What the token endpoint hands out. */
export interface ProviderTokens {
  readonly idToken: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/** What the provider says of a device that asks. */
export interface DeviceRequest {
  readonly deviceCode: string;
  readonly userCode: string;
  /** The page to open: with the code in it where the provider offers that. */
  readonly page: string;
  /** Seconds between two polls. */
  readonly interval: number;
}

/** What was sent with the browser to the provider, and comes back with the code. */
export interface CodeRequest {
  readonly code: string;
  readonly state: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface ProviderParts {
  readonly setup: Setup;
  readonly http: IssuerHttp;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The OpenID provider of a configuration, for one request. Every call goes over the connections, deadlines and circuit breaker of the issuer.
 * All methods throw UpstreamFailed or Unavailable where the provider cannot be asked, and BadRequest where it refuses.
 */
export class Provider {
  readonly #library: Library;
  readonly #parts: ProviderParts;
  readonly #metadata: ServerMetadata;

  private constructor(library: Library, parts: ProviderParts, metadata: ServerMetadata) {
    this.#library = library;
    this.#parts = parts;
    this.#metadata = metadata;
  }

  /** Fetches the discovery document, unless it is known. */
  static async open(parts: ProviderParts): Promise<Provider> {
    const [library, document] = await Promise.all([
      import('openid-client'),
      parts.setup.keys.discovery(parts.signal).catch((error: unknown) => {
        throw error instanceof UpstreamFailed ? noResponse(error) : error;
      }),
    ]);
    if (!document) throw loginFailed('The provider describes itself nowhere.');
    return new Provider(library, parts, metadataOf(document));
  }

  /** Where the browser goes. The parameters are those of the request beside the client's id. */
  authorizationUrl(parameters: Readonly<Record<string, string>>): string {
    if (typeof this.#metadata.authorization_endpoint !== 'string') throw loginFailed('The provider has no authorization endpoint.');
    return this.#library.buildAuthorizationUrl(this.#configuration(), parameters).href;
  }

  challengeOf(verifier: string): Promise<string> {
    return this.#library.calculatePKCECodeChallenge(verifier);
  }

  async redeemCode(request: CodeRequest): Promise<ProviderTokens> {
    if (typeof this.#metadata.token_endpoint !== 'string') throw loginFailed('The provider has no token endpoint.');
    const { code, state, redirectUri, nonce, verifier } = request;
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state, ...this.#issuerOfAnswer() }).toString();
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
      ...(verifier === '' ? {} : { pkceCodeVerifier: verifier }),
    };
    try {
      return tokensOf(await this.#library.authorizationCodeGrant(this.#configuration(redirectUri), back, checks));
    } catch (error) {
      throw this.#refusal(error, (text) => loginFailed(`Error exchanging oidc code: ${JSON.stringify(text)}.`));
    }
  }

  async beginDevice(scope: string): Promise<DeviceRequest> {
    if (typeof this.#metadata.device_authorization_endpoint !== 'string')
      throw loginFailed('The provider has no device authorization endpoint.');
    try {
      const begun = await this.#library.initiateDeviceAuthorization(this.#configuration(), { scope });
      return {
        deviceCode: begun.device_code,
        userCode: begun.user_code,
        page: begun.verification_uri_complete ?? begun.verification_uri,
        interval: begun.interval ?? 5,
      };
    } catch (error) {
      throw this.#refusal(error, (text) => loginFailed(`Error beginning the device login: ${JSON.stringify(text)}.`));
    }
  }

  /** The tokens, or the provider's reason to ask again later. */
  async pollDevice(deviceCode: string): Promise<ProviderTokens | 'authorization_pending' | 'slow_down'> {
    try {
      return tokensOf(await this.#library.genericGrantRequest(this.#configuration(), DEVICE_GRANT, { device_code: deviceCode }));
    } catch (error) {
      const { error: reason } = error as { error?: unknown };
      if (reason === 'authorization_pending' || reason === 'slow_down') return reason;
      throw this.#refusal(error, (text) => loginFailed(text));
    }
  }

  /** The claims of the userinfo endpoint, if it has one, which are about this subject. */
  async userinfo(accessToken: string, subject: string): Promise<JsonObject> {
    if (typeof this.#metadata.userinfo_endpoint !== 'string') return {};
    try {
      return await this.#library.fetchUserInfo(this.#configuration(), accessToken, subject);
    } catch (error) {
      throw this.#refusal(error, (text) => verificationFailed(text));
    }
  }

  /**
   * Refuses the answer of another provider, which would get a code that is not for it (RFC 9207). `always`: an answer without an issuer is refused too,
   * where the provider promises one; programs that pass an answer on may leave it out.
   * @throws BadRequest
   */
  requireAnswerOf(issuer: string, always: boolean): void {
    const promised = this.#metadata.authorization_response_iss_parameter_supported === true;
    if (issuer === '' ? always && promised : issuer !== this.#metadata.issuer) throw loginFailed('Another provider has answered.');
  }

  /** The library asks for the issuer of an answer too; `requireAnswerOf` has checked it. */
  #issuerOfAnswer(): Record<string, string> {
    return this.#metadata.authorization_response_iss_parameter_supported === true ? { iss: this.#metadata.issuer } : {};
  }

  /** `redirectUri` goes to the token endpoint to the letter: the library would leave its query out. */
  #configuration(redirectUri?: string): Configuration {
    const { setup, clock } = this.#parts;
    const { oidc_client_id: id, oidc_client_secret: secret, jwt_supported_algs: algorithms } = setup.config;
    const { ClientSecretBasic, ClientSecretPost, Configuration, allowInsecureRequests, clockSkew, clockTolerance } = this.#library;
    const methods = this.#metadata.token_endpoint_auth_methods_supported;
    const authentication = methods && !methods.includes('client_secret_basic') ? ClientSecretPost(secret) : ClientSecretBasic(secret);
    const server = { ...this.#metadata, id_token_signing_alg_values_supported: algorithms.length > 0 ? algorithms : ['RS256'] };
    // The role says how exact the times of an ID token must be; `verifyIdToken` checks them.
    const client = { [clockSkew]: Math.round((clock.millis() - Date.now()) / 1_000), [clockTolerance]: 86_400 };
    const configuration = new Configuration(server, id, client, authentication);
    // Whether a provider may be asked without TLS is decided where it is configured.
    allowInsecureRequests(configuration);
    const customFetch: Library['customFetch'] = this.#library.customFetch;
    configuration[customFetch] = (url, options) => this.#fetch(url, options, redirectUri);
    return configuration;
  }

  async #fetch(url: string, { method, headers, body }: CustomFetchOptions, redirectUri: string | undefined): Promise<Response> {
    const { http, setup, signal } = this.#parts;
    if (redirectUri !== undefined && body instanceof URLSearchParams && body.has('redirect_uri')) body.set('redirect_uri', redirectUri);
    const sent = body instanceof URLSearchParams ? body.toString() : undefined;
    const answer = await http.call(url, {
      trust: setup.trust,
      signal,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(sent === undefined ? {} : { body: sent }),
    });
    return new Response(answer.status === 204 ? null : new Uint8Array(answer.body), { status: answer.status, headers: answer.headers });
  }

  /** What a failed call means to the caller. `refused` makes the refusal of the text that the provider gave. */
  #refusal(error: unknown, refused: (text: string) => Error): Error {
    const { signal, setup } = this.#parts;
    const reason = chain(error).find((one) => one instanceof UpstreamFailed || one instanceof Unavailable);
    if (reason instanceof UpstreamFailed) return noResponse(reason);
    if (reason) return reason;
    if (signal.aborted) return signal.reason as Error;
    const secrets = { 'client secret': setup.config.oidc_client_secret };
    const { error: code, error_description: description, code: kind, message } = error as ProviderError;
    if (typeof code === 'string') return refused(foreignText(description === undefined ? code : `${code}: ${description}`, secrets));
    if (kind === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return refused('the provider refused the credentials of the client');
    if (GARBAGE.has(kind)) return noResponse(new IssuerRefused(`${this.#metadata.issuer}: ${message ?? 'unusable answer'}`));
    const cause = (error as Error).cause instanceof Error ? `: ${((error as Error).cause as Error).message}` : '';
    return verificationFailed(foreignText(`${message ?? String(error)}${cause}`, secrets));
  }
}

interface ProviderError {
  readonly error?: unknown;
  readonly error_description?: string;
  readonly code?: unknown;
  readonly message?: string;
}

/** An error and its causes. */
function chain(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let at = error; at instanceof Error && found.length < 8; at = at.cause) found.push(at);
  return found;
}

function tokensOf(answer: { access_token: string; id_token?: string; refresh_token?: string }): ProviderTokens {
  if (answer.id_token === undefined) throw verificationFailed('No id_token found in response.');
  return { idToken: answer.id_token, accessToken: answer.access_token, refreshToken: answer.refresh_token };
}

/** What the library may know of the discovery document: texts, lists of texts and flags, and of the endpoints those that can be asked. */
function metadataOf(document: DiscoveryDocument): ServerMetadata {
  const plain = (value: unknown): boolean =>
    typeof value === 'string' || typeof value === 'boolean' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
  const usable = ([name, value]: [string, unknown]): boolean =>
    name.endsWith('_endpoint') ? endpointOf(document, name) !== undefined : plain(value);
  return { ...Object.fromEntries(Object.entries(document.metadata).filter(usable)), issuer: document.issuer };
}
