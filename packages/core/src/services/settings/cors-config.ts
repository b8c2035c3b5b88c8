import { Type, type Static } from 'typebox';
import { BadRequest, type Collection, type StorageView } from '@strongroom/engine-sdk';

/** What every client of this API may send; the operator adds to it. */
const standardHeaders = [
  'Content-Type',
  'Authorization',
  'X-Vault-Token',
  'X-Vault-MFA',
  'X-Vault-No-Request-Forwarding',
  'X-Vault-Wrap-Format',
  'X-Vault-Wrap-TTL',
  'X-Requested-With',
  'X-Vault-AWS-IAM-Server-ID',
  'X-Vault-Policy-Override',
];
const methods = ['DELETE', 'GET', 'OPTIONS', 'POST', 'PUT', 'LIST', 'SCAN'];
/** What a page of another origin may read of an answer, beside its body. */
const exposed = 'X-Strongroom-Request-Id';
const MAX_AGE_SECONDS = 300;

const CorsRecord = Type.Object({
  allowed_origins: Type.Array(Type.String()),
  allowed_headers: Type.Array(Type.String()),
  allow_credentials: Type.Boolean(),
});
/** `allowed_headers` holds the standard ones too. */
export type CorsSettings = Static<typeof CorsRecord>;

/** What the HTTP adapter does with a request of a browser. */
export type CorsDecision =
  /** Carry on, and send these headers with the answer. */
  | { readonly kind: 'pass'; readonly headers: Readonly<Record<string, string>> }
  /** Answer at once: 200 with these headers and no body. */
  | { readonly kind: 'preflight'; readonly headers: Readonly<Record<string, string>> }
  /** Answer at once: 403 `origin not allowed`, or 405 for a preflight of an unknown method (no text). */
  | { readonly kind: 'refused'; readonly status: 403 | 405; readonly error: string };

const pass: CorsDecision = { kind: 'pass', headers: {} };
const ID = 'cors';

/** Which web pages of other origins may call. Asked synchronously at each request that has an `Origin`. */
export class CorsConfig {
  readonly #records: Collection<CorsSettings>;
  #settings: CorsSettings | undefined;

  constructor(storage: StorageView) {
    this.#records = storage.collection('config/', CorsRecord, { cached: true });
  }

  get enabled(): boolean {
    return this.#settings !== undefined;
  }

  get settings(): CorsSettings | undefined {
    return this.#settings;
  }

  /** After unsealing, and whenever another process changed the record. */
  async load(): Promise<void> {
    this.#settings = await this.#records.get(ID);
  }

  /** @throws BadRequest for no origin, or for the wildcard beside others. */
  async enable(settings: { origins: readonly string[]; headers: readonly string[]; credentials: boolean }): Promise<void> {
    const { origins, headers, credentials } = settings;
    if (origins.length === 0) throw new BadRequest('at least one origin or the wildcard must be provided');
    if (origins.includes('*') && origins.length > 1)
      throw new BadRequest("to allow all origins the '*' must be the only value for allowed_origins");
    const unsafe = headers.find((header) => !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header));
    if (unsafe !== undefined) throw new BadRequest(`allowed_headers: ${JSON.stringify(unsafe)} is not a header name`);
    const known = new Set(standardHeaders.map((header) => header.toLowerCase()));
    const record: CorsSettings = {
      allowed_origins: [...origins],
      allowed_headers: [...standardHeaders, ...headers.filter((header) => !known.has(header.toLowerCase()))],
      allow_credentials: credentials,
    };
    await this.#records.put(ID, record);
    this.#settings = record;
  }

  async disable(): Promise<void> {
    await this.#records.delete(ID);
    this.#settings = undefined;
  }

  /** `preflightFor` is the header Access-Control-Request-Method. */
  decide(method: string, origin: string | undefined, preflightFor?: string): CorsDecision {
    const settings = this.#settings;
    if (!settings || !origin) return pass;
    if (!settings.allowed_origins.includes('*') && !settings.allowed_origins.includes(origin)) {
      return { kind: 'refused', status: 403, error: 'origin not allowed' };
    }
    const headers: Record<string, string> = { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
    if (settings.allow_credentials) headers['Access-Control-Allow-Credentials'] = 'true';
    if (method !== 'OPTIONS') return { kind: 'pass', headers: { ...headers, 'Access-Control-Expose-Headers': exposed } };
    if (!methods.includes(preflightFor ?? '')) return { kind: 'refused', status: 405, error: '' };
    headers['Access-Control-Allow-Methods'] = methods.join(',');
    headers['Access-Control-Allow-Headers'] = settings.allowed_headers.join(',');
    headers['Access-Control-Max-Age'] = String(MAX_AGE_SECONDS);
    return { kind: 'preflight', headers };
  }
}
