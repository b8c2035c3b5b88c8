import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { matchPath, parseJson, type ProviderAnswer, ProviderRefusal, type ProviderRequest } from './http-server.ts';
import { verifyJwt } from './json-web-token.ts';

/** A service account and its key, in the form of the file that Google's console gives out. */
export interface ServiceAccountKey {
  readonly type: 'service_account';
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly client_id: string;
  readonly token_uri: string;
  readonly universe_domain: string;
}

const PLATFORM_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** Where clients exchange assertions, whatever address they really call. */
const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const LONGEST_TOKEN = 3600;

/** The accounts of a project: what signs tokens, what may impersonate what, and which tokens were issued. */
export class GoogleAccounts {
  readonly projectId: string;
  readonly #now: () => number;
  readonly #keys = new Map<string, { readonly publicKey: KeyObject; readonly keyId: string }>();
  readonly #tokens = new Map<string, { readonly email: string; readonly expires: number }>();
  /** `source target` pairs: source holds the role of a token creator on target. */
  readonly #creators = new Set<string>();

  constructor(projectId: string, now: () => number) {
    this.projectId = projectId;
    this.#now = now;
  }

  /** A new service account with one key. */
  create(name: string): ServiceAccountKey {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const keyId = randomBytes(20).toString('hex');
    const email = `${name}@${this.projectId}.iam.gserviceaccount.com`;
    this.#keys.set(email, { publicKey, keyId });
    return {
      type: 'service_account',
      project_id: this.projectId,
      private_key_id: keyId,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      client_email: email,
      client_id: '100000000000000000001',
      token_uri: TOKEN_URI,
      universe_domain: 'googleapis.com',
    };
  }

  /** Lets `source` make tokens of `target` (roles/iam.serviceAccountTokenCreator). */
  allowImpersonation(source: string, target: string): void {
    this.#creators.add(`${source} ${target}`);
  }

  /**
   * The account behind a bearer token: one that was issued here, or one that an account signed by itself for `audience` (or with the scope of
   * the whole platform). Otherwise what is wrong.
   */
  authenticate(authorization: string, audience: string): { readonly email: string } | { readonly fault: string } {
    const token = /^Bearer (\S+)$/.exec(authorization)?.[1];
    if (token === undefined) return { fault: 'no bearer token' };
    const issued = this.#tokens.get(token);
    if (issued !== undefined) return issued.expires > this.#seconds() ? { email: issued.email } : { fault: 'expired' };
    const read = this.#verify(token);
    if ('fault' in read) return read;
    const scopes = typeof read.claims['scope'] === 'string' ? read.claims['scope'].split(' ') : [];
    if (read.claims['aud'] !== audience && !scopes.includes(PLATFORM_SCOPE)) return { fault: 'the audience is another' };
    return { email: String(read.claims['iss']) };
  }

  /** Answers the token endpoint and IAM's generateAccessToken; undefined for any other path. */
  handle(request: ProviderRequest): ProviderAnswer | undefined {
    if (request.method !== 'POST') return undefined;
    if (request.path === '/token') return this.#exchange(new URLSearchParams(request.text));
    const values = matchPath('/v1/projects/-/serviceAccounts/{target}', request.path);
    const target = values?.['target']?.replace(/:generateAccessToken$/, '');
    return target === undefined || target === values?.['target'] ? undefined : this.#impersonate(request, target);
  }

  #exchange(form: URLSearchParams): ProviderAnswer {
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      throw oauthRefusal('unsupported_grant_type', 'Invalid grant_type');
    }
    const read = this.#verify(form.get('assertion') ?? '');
    if ('fault' in read) throw oauthRefusal('invalid_grant', `Invalid JWT: ${read.fault}`);
    if (read.claims['aud'] !== TOKEN_URI) throw oauthRefusal('invalid_grant', 'Invalid JWT: the audience is another');
    const token = this.#issue(String(read.claims['iss']), LONGEST_TOKEN);
    return { status: 200, body: { access_token: token, expires_in: LONGEST_TOKEN, token_type: 'Bearer' } };
  }

  #impersonate(request: ProviderRequest, target: string): ProviderAnswer {
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    const issued = token === undefined ? undefined : this.#tokens.get(token);
    if (issued === undefined || issued.expires <= this.#seconds()) {
      throw iamRefusal(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    }
    if (!this.#creators.has(`${issued.email} ${target}`) || !this.#keys.has(target)) {
      throw iamRefusal(
        403,
        'PERMISSION_DENIED',
        "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).",
      );
    }
    const body = parseJson(request.text, () => iamRefusal(400, 'INVALID_ARGUMENT', 'The body is not JSON.')) as Record<string, unknown>;
    const lifetime = /^(\d+)s$/.exec(String(body['lifetime'] ?? `${LONGEST_TOKEN}s`))?.[1];
    if (lifetime === undefined || Number(lifetime) > LONGEST_TOKEN || !Array.isArray(body['scope']) || body['scope'].length === 0) {
      throw iamRefusal(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.');
    }
    const expireTime = new Date(this.#now() + Number(lifetime) * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
    return { status: 200, body: { accessToken: this.#issue(target, Number(lifetime)), expireTime } };
  }

  #issue(email: string, lifetime: number): string {
    const token = `ya29.${randomBytes(32).toString('base64url')}`;
    this.#tokens.set(token, { email, expires: this.#seconds() + lifetime });
    return token;
  }

  #verify(token: string): ReturnType<typeof verifyJwt> {
    const [header = '', payload = ''] = token.split('.');
    const claimed = peek(payload)['iss'];
    const key = typeof claimed === 'string' ? this.#keys.get(claimed) : undefined;
    if (key === undefined) return { fault: 'the issuer is unknown' };
    const { kid } = peek(header);
    if (kid !== undefined && kid !== key.keyId) return { fault: 'the key is unknown' };
    const read = verifyJwt(token, key.publicKey, this.#seconds());
    if ('fault' in read) return read;
    const { iat, exp, sub } = read.claims;
    if (typeof iat !== 'number' || Number(exp) - iat > LONGEST_TOKEN) return { fault: 'valid for more than an hour' };
    if (sub !== undefined && sub !== claimed) return { fault: 'the subject is not the issuer' };
    return read;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

function peek(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const OAUTH = 'oauth';

const oauthRefusal = (code: string, message: string): ProviderRefusal =>
  new ProviderRefusal(400, code, message, { details: { [OAUTH]: true } });

const iamRefusal = (status: number, code: string, message: string): ProviderRefusal => new ProviderRefusal(status, code, message);

/** Both error shapes: OAuth's flat one, and that of Google's APIs. */
export function renderGoogleRefusal(refusal: ProviderRefusal): ProviderAnswer {
  if (OAUTH in refusal.details) return { status: refusal.status, body: { error: refusal.code, error_description: refusal.message } };
  return {
    status: refusal.status,
    ...(refusal.retryAfter !== undefined && { headers: { 'retry-after': String(refusal.retryAfter) } }),
    body: { error: { code: refusal.status, message: refusal.message, status: refusal.code } },
  };
}
