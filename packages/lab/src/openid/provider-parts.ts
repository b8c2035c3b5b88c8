/** The program that people log in to. */
export interface ProviderClient {
  readonly id: string;
  readonly secret: string;
  /** Where it may ask the browser to be sent; the port of a loopback address does not matter. Empty: anywhere. */
  readonly redirectUris: readonly string[];
}

/** What the endpoints of a provider are made of. */
export interface ProviderParts {
  readonly issuer: string;
  readonly client: ProviderClient;
  /** Signs an ID token; `forged` with a key that the provider does not publish. */
  sign(claims: Readonly<Record<string, unknown>>, options: { readonly forged: boolean }): Promise<string>;
  /** Seconds since the epoch. */
  now(): number;
}

/** What an endpoint answers. A text is HTML, an object JSON. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body?: string | Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error of OAuth 2.0. */
export function oauthError(error: string, description?: string, status = 400): ProviderAnswer {
  return { status, body: { error, ...(description === undefined ? {} : { error_description: description }) } };
}

/** A person who is asked for consent, and the claims about them. */
export interface Person {
  claims: Record<string, unknown> & { sub: string };
  /** What they decide. */
  consents: boolean;
}
