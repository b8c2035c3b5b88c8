import { createHash, randomBytes } from 'node:crypto';
import type { Person, ProviderParts } from './provider-parts.ts';

/** Seconds for which a code can be redeemed, and a device code. */
export const CODE_SECONDS = 60;
export const DEVICE_SECONDS = 600;
export const DEVICE_INTERVAL = 5;

/** What a person has agreed to. */
interface Grant {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly nonce?: string | undefined;
  readonly authTime?: number | undefined;
  readonly expires: number;
}

export interface CodeGrant extends Grant {
  readonly redirectUri: string;
  readonly challenge: string | undefined;
}

export interface DeviceGrant {
  readonly userCode: string;
  readonly expires: number;
  state: 'pending' | 'approved' | 'denied';
  interval: number;
  lastPoll: number | undefined;
}

/** Changes to the ID tokens that a provider gone bad hands out. */
export interface Forgery {
  /** Signed with a key that is not published. */
  readonly key?: true;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The codes and tokens that a provider has handed out. */
export class Grants {
  forgery: Forgery | undefined;
  readonly devices = new Map<string, DeviceGrant>();
  readonly #parts: ProviderParts;
  readonly #codes = new Map<string, CodeGrant>();
  readonly #access = new Map<string, Readonly<Record<string, unknown>>>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
  }

  code(grant: Omit<CodeGrant, 'expires'>): string {
    const code = randomBytes(16).toString('base64url');
    this.#codes.set(code, { ...grant, expires: this.#parts.now() + CODE_SECONDS });
    return code;
  }

  /** The grant of a code that was not redeemed before; a text says why there is none. */
  redeem(code: string, redirectUri: string, verifier: string | undefined): CodeGrant | string {
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    if (!grant) return 'unknown code, or redeemed before';
    if (grant.expires <= this.#parts.now()) return 'the code is expired';
    if (grant.redirectUri !== redirectUri) return 'redirect_uri differs from the request';
    if ((grant.challenge === undefined) !== (verifier === undefined)) return 'PKCE: code_verifier without a challenge, or the reverse';
    if (verifier !== undefined && createHash('sha256').update(verifier).digest('base64url') !== grant.challenge)
      return 'PKCE verification failed';
    return grant;
  }

  device(): [deviceCode: string, grant: DeviceGrant] {
    const [deviceCode, letters] = [randomBytes(16).toString('base64url'), randomBytes(4).toString('hex').toUpperCase()];
    const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`;
    const expires = this.#parts.now() + DEVICE_SECONDS;
    const grant: DeviceGrant = { userCode, expires, state: 'pending', interval: DEVICE_INTERVAL, lastPoll: undefined };
    this.devices.set(deviceCode, grant);
    return [deviceCode, grant];
  }

  async idToken({ claims, nonce, authTime }: Omit<Grant, 'expires'>): Promise<string> {
    const now = this.#parts.now();
    const { issuer, client } = this.#parts;
    const standard = { iss: issuer, aud: client.id, iat: now, exp: now + 600 };
    const asked = { ...(nonce === undefined ? {} : { nonce }), ...(authTime === undefined ? {} : { auth_time: authTime }) };
    const { key, claims: changed } = this.forgery ?? {};
    return this.#parts.sign({ ...claims, ...standard, ...asked, ...changed }, { forged: key === true });
  }

  /** The answer of the token endpoint. */
  async tokens(grant: Omit<Grant, 'expires'>): Promise<Record<string, unknown>> {
    const access = randomBytes(16).toString('base64url');
    this.#access.set(access, grant.claims);
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: 600,
      refresh_token: randomBytes(16).toString('base64url'),
      id_token: await this.idToken(grant),
    };
  }

  /** The claims of the person to whom an access token belongs. */
  ofAccessToken(token: string): Readonly<Record<string, unknown>> | undefined {
    return this.#access.get(token);
  }
}

/** A copy of the claims about a person as they are now. */
export function claimsOf({ claims }: Person): Record<string, unknown> {
  return structuredClone(claims);
}
