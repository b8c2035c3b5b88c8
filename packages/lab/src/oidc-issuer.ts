import { createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { rsaKeyPair } from './rsa-keys.ts';

export type IssuerAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA';

export interface OidcIssuerOptions {
  /** Serve by TLS with this certificate and key, as PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** `Cache-Control` of the key set and the discovery document. */
  readonly cacheControl?: string;
}

/** What a signed token is like, beside its claims. */
export interface SignOptions {
  /** Default RS256. `none` and `HS256` are forgeries: no signature, and one keyed with the public key's PEM. */
  readonly alg?: IssuerAlgorithm | 'none' | 'HS256';
  /** A key that the set never had, under the name of one that it has. */
  readonly forged?: boolean;
  /** Overrides the header. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** Texts to replace in the claims' JSON, for what JavaScript does not write: `{ '"#"': '1.0' }`. */
  readonly replace?: Readonly<Record<string, string>>;
  /** Leave `iat` and `exp` to the claims. */
  readonly bare?: boolean;
}

/** How the issuer fails. */
export interface IssuerOutage {
  /** Answer 503 to everything. */
  readonly refusing?: boolean;
  /** Accept connections and never answer. */
  readonly hanging?: boolean;
  /** Answer as if it were another issuer. */
  readonly renamed?: string;
  /** Answer this text instead of JSON. */
  readonly garbage?: string;
}

/** Handles a request below a path that the issuer does not know itself; undefined for 404. */
export type IssuerRoute = (req: IncomingMessage, res: ServerResponse, url: URL) => void | Promise<void>;

/** A token issuer on a free loopback port: discovery, a key set, and tokens with whatever claims a test wants. */
export interface OidcIssuer {
  /** The `iss` of its tokens, and its address. */
  readonly url: string;
  readonly jwksUrl: string;
  /** Names of the keys in the set. */
  kids(): string[];
  /** PEM of the public key that signs this algorithm now. */
  publicKey(alg?: IssuerAlgorithm): string;
  /** A token with these claims, `iss`, and `iat` and `exp` (ten minutes) unless they are there; a claim of undefined is left out. `now`: seconds. */
  sign(claims: Readonly<Record<string, unknown>>, options?: SignOptions): string;
  /** A new key signs from now on, and joins the set; the old one stays in the set until it is withdrawn. Gives its name. */
  rotate(alg?: IssuerAlgorithm): string;
  /** Takes a key out of the set. Tokens that it signed can still be made by nobody. */
  withdraw(kid: string): void;
  /** Fails from now on; without options it works again. */
  outage(outage?: IssuerOutage): void;
  /** Requests so far, by path. */
  readonly requests: ReadonlyMap<string, number>;
  /** Adds what an OpenID provider has beyond keys, such as `/authorize`. */
  route(path: string, handler: IssuerRoute): void;
  /** Adds to the discovery document. */
  describe(metadata: Readonly<Record<string, unknown>>): void;
  /** Seconds since the epoch, for `iat` and `exp`. Default: the system's time. */
  clock: () => number;
  stop(): Promise<void>;
}

interface SigningKey {
  readonly kid: string;
  readonly alg: IssuerAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const ALGORITHMS: readonly IssuerAlgorithm[] = ['RS256', 'ES256', 'EdDSA'];

/** Starts an issuer with one key for each of RS256, ES256 and EdDSA, made now. */
export async function startOidcIssuer({ tls, cacheControl }: OidcIssuerOptions = {}): Promise<OidcIssuer> {
  const set = ALGORITHMS.map((alg) => makeKey(alg));
  const signing = new Map<IssuerAlgorithm, SigningKey>(set.map((key) => [key.alg, key]));
  const forger = makeKey('RS256');
  const routes = new Map<string, IssuerRoute>();
  const requests = new Map<string, number>();
  let present: IssuerOutage = {};
  let metadata: Readonly<Record<string, unknown>> = {};

  const listener: RequestListener = (req, res) => {
    const at = new URL(req.url ?? '/', url);
    requests.set(at.pathname, (requests.get(at.pathname) ?? 0) + 1);
    if (present.hanging === true) return;
    if (present.refusing === true) return void res.writeHead(503).end();
    if (present.garbage !== undefined) return void res.writeHead(200).end(present.garbage);
    const json = (body: unknown): void => {
      const headers = { 'content-type': 'application/json', ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }) };
      res.writeHead(200, headers).end(JSON.stringify(body));
    };
    if (at.pathname === '/jwks') return json({ keys: set.map(jwkOf) });
    if (at.pathname === '/.well-known/openid-configuration') return json({ ...described(present.renamed ?? url, signing), ...metadata });
    const route = routes.get(at.pathname);
    if (!route) return void res.writeHead(404).end();
    Promise.resolve(route(req, res, at)).catch((error: unknown) => res.writeHead(500).end(String(error)));
  };
  const server: Server = tls ? createHttps(tls, listener) : createHttp(listener);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  // A server that a failed test forgot must not keep the test run alive.
  server.unref();
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const keyOf = (alg: IssuerAlgorithm): SigningKey => {
    const key = signing.get(alg) ?? makeKey(alg);
    if (!signing.has(alg)) {
      signing.set(alg, key);
      set.push(key);
    }
    return key;
  };

  const issuer: OidcIssuer = {
    url,
    jwksUrl: `${url}/jwks`,
    requests,
    clock: () => Math.floor(Date.now() / 1_000),
    kids: () => set.map(({ kid }) => kid),
    publicKey: (alg = 'RS256') => keyOf(alg).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: (claims, { alg = 'RS256', forged = false, header = {}, replace = {}, bare = false } = {}) => {
      const named = keyOf(alg === 'none' || alg === 'HS256' ? 'RS256' : alg);
      const now = issuer.clock();
      const stamped = { iss: url, ...(bare ? {} : { iat: now, exp: now + 600 }), ...claims };
      const payload = Object.entries(replace).reduce((json, [from, to]) => json.replaceAll(from, to), JSON.stringify(stamped));
      const text = `${encoded(JSON.stringify({ alg, typ: 'JWT', kid: named.kid, ...header }))}.${encoded(payload)}`;
      return `${text}.${signatureOf(text, alg, forged ? forger : named)}`;
    },
    rotate: (alg = 'RS256') => {
      const key = makeKey(alg);
      signing.set(alg, key);
      set.push(key);
      return key.kid;
    },
    withdraw: (kid) => {
      const at = set.findIndex((key) => key.kid === kid);
      if (at < 0) throw new Error(`no key ${kid} is in the set`);
      set.splice(at, 1);
    },
    outage: (outage = {}) => {
      present = outage;
    },
    route: (path, handler) => void routes.set(path, handler),
    describe: (more) => {
      metadata = { ...metadata, ...more };
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
}

function makeKey(alg: IssuerAlgorithm): SigningKey {
  const kid = `${alg.slice(0, 2).toLowerCase()}-${randomBytes(4).toString('hex')}`;
  if (alg === 'EdDSA') return { kid, alg, ...generateKeyPairSync('ed25519') };
  if (alg.startsWith('ES')) return { kid, alg, ...generateKeyPairSync('ec', { namedCurve: alg === 'ES384' ? 'P-384' : 'P-256' }) };
  return { kid, alg, ...rsaKeyPair() };
}

function jwkOf({ kid, alg, publicKey }: SigningKey): Record<string, unknown> {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

function described(issuer: string, signing: ReadonlyMap<IssuerAlgorithm, SigningKey>): Record<string, unknown> {
  return {
    issuer,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code', 'id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...signing.keys()],
  };
}

function signatureOf(text: string, alg: SignOptions['alg'], { privateKey, publicKey }: SigningKey): string {
  if (alg === 'none') return '';
  if (alg === 'HS256') {
    return createHmac('sha256', publicKey.export({ type: 'spki', format: 'pem' }))
      .update(text)
      .digest('base64url');
  }
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const, ...(alg === 'PS256' ? { padding: 6, saltLength: 32 } : {}) };
  return sign(alg === 'EdDSA' ? null : `sha${alg!.slice(2)}`, Buffer.from(text), key).toString('base64url');
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}
