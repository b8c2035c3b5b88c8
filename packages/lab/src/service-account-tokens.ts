import { createPublicKey, randomUUID, sign, verify, type KeyObject } from 'node:crypto';
import { rsaKeyPair } from './rsa-keys.ts';

/** The audience of the API server itself: what tokens have that are issued without another. */
export const API_AUDIENCE = 'https://kubernetes.default.svc.cluster.local';
const LEGACY = 'kubernetes.io/serviceaccount/';

/** What a token is issued for. Times are seconds from now. */
export interface TokenRequest {
  /** Default: `default`. */
  readonly namespace?: string;
  /** Default: `app`. */
  readonly name?: string;
  /** Default: that of the API server. A single text is written into the token as such, not as a list. */
  readonly audiences?: readonly string[] | string;
  /** A token of a secret of earlier versions: without times and audience. */
  readonly legacy?: boolean;
  /** Signed by another key. */
  readonly forged?: boolean;
  /** Default: 0. */
  readonly issuedAt?: number;
  /** Default: 0. */
  readonly notBefore?: number;
  /** Default: 600. */
  readonly expires?: number;
  /** Claims that replace those of the token, for tokens that no cluster issues. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The account of a token whose signature and times are good. */
export interface TokenOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
}

/** Signs and checks the tokens of service accounts, with RS256 as clusters do. `now` is in milliseconds. */
export class ServiceAccountTokens {
  readonly publicKey: string;
  readonly #key: KeyObject;
  readonly #verifier: KeyObject;
  readonly #uids = new Map<string, string>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#key = keyOf('cluster');
    this.#verifier = createPublicKey(this.#key);
    this.publicKey = this.#verifier.export({ type: 'spki', format: 'pem' }) as string;
  }

  /** The uid of an account, which a deleted account that is created again does not keep. */
  uidOf(namespace: string, name: string): string {
    const key = `${namespace}/${name}`;
    const uid = this.#uids.get(key) ?? randomUUID();
    this.#uids.set(key, uid);
    return uid;
  }

  delete(namespace: string, name: string): void {
    this.#uids.delete(`${namespace}/${name}`);
  }

  issue(request: TokenRequest = {}): string {
    const { namespace = 'default', name = 'app', claims = {} } = request;
    const uid = this.uidOf(namespace, name);
    const payload = {
      ...(request.legacy ? legacyClaims(namespace, name, uid) : this.#projectedClaims(namespace, name, uid, request)),
      ...claims,
    };
    const signed = `${encode({ alg: 'RS256', kid: 'lab', typ: 'JWT' })}.${encode(payload)}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), request.forged ? keyOf('forger') : this.#key).toString('base64url')}`;
  }

  /** @returns the owner, or what is wrong with the token in the words of an API server */
  check(token: string): TokenOwner | string {
    const [header, payload, signature, ...rest] = token.split('.');
    if (!header || !payload || !signature || rest.length > 0) return 'invalid bearer token';
    const good = verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      createPublicKey(this.publicKey),
      Buffer.from(signature, 'base64url'),
    );
    if (!good) return 'invalid bearer token';
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const seconds = this.#now() / 1_000;
    if (typeof claims['exp'] === 'number' && claims['exp'] < seconds) return '[invalid bearer token, service account token has expired]';
    if (typeof claims['nbf'] === 'number' && claims['nbf'] > seconds + 1)
      return '[invalid bearer token, service account token is not valid yet]';
    const owner = ownerOf(claims);
    const exists = owner !== undefined && this.#uids.get(`${owner.namespace}/${owner.name}`) === owner.uid;
    return exists ? owner : '[invalid bearer token, service account token has been invalidated]';
  }

  #projectedClaims(namespace: string, name: string, uid: string, request: TokenRequest): Record<string, unknown> {
    const now = Math.floor(this.#now() / 1_000);
    const { audiences = [API_AUDIENCE], issuedAt = 0, notBefore = 0, expires = 600 } = request;
    return {
      aud: audiences,
      iss: API_AUDIENCE,
      sub: `system:serviceaccount:${namespace}:${name}`,
      iat: now + issuedAt,
      nbf: now + notBefore,
      exp: now + expires,
      'kubernetes.io': { namespace, pod: { name: `${name}-0`, uid: randomUUID() }, serviceaccount: { name, uid } },
    };
  }
}

function legacyClaims(namespace: string, name: string, uid: string): Record<string, unknown> {
  return {
    iss: 'kubernetes/serviceaccount',
    sub: `system:serviceaccount:${namespace}:${name}`,
    [`${LEGACY}namespace`]: namespace,
    [`${LEGACY}secret.name`]: `${name}-token-abcde`,
    [`${LEGACY}service-account.name`]: name,
    [`${LEGACY}service-account.uid`]: uid,
  };
}

function ownerOf(claims: Record<string, unknown>): TokenOwner | undefined {
  const projected = claims['kubernetes.io'] as { namespace: string; serviceaccount: { name: string; uid: string } } | undefined;
  if (projected) {
    const { namespace, serviceaccount } = projected;
    return { namespace, ...serviceaccount, audiences: [claims['aud']].flat().filter((one) => typeof one === 'string') };
  }
  const [namespace, name, uid] = ['namespace', 'service-account.name', 'service-account.uid'].map((key) => claims[LEGACY + key]);
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string') return undefined;
  return { namespace, name, uid, audiences: [API_AUDIENCE] };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Those of a cluster and of a forger, the same for every cluster of this process. */
const keys = new Map<string, KeyObject>();

function keyOf(owner: 'cluster' | 'forger'): KeyObject {
  const key = keys.get(owner) ?? rsaKeyPair().privateKey;
  keys.set(owner, key);
  return key;
}
