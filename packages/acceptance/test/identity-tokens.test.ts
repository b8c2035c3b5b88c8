import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { userpassAuth } from '@strongroom/auth-userpass';
import type { Core } from '@strongroom/core';
import { checkedCore, manualClock } from '@strongroom/engine-testkit';
import { createHttpServer } from '@strongroom/http';
import { memoryStorage } from '@strongroom/storage-sdk';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ClientAuth,
  type Configuration,
} from 'openid-client';

const clock = manualClock(new Date());

/** A server over HTTP with one person, known to `userpass`. */
interface Running {
  readonly address: string;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Record<string, unknown>>;
  login(): Promise<string>;
  stop(): Promise<void>;
}

async function start(): Promise<Running> {
  const holder: { core?: Core } = {};
  const server = createHttpServer({ handle: async (request) => holder.core!.handle(request) }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const core = (holder.core = await checkedCore({
    storage: memoryStorage(),
    plugins: [userpassAuth],
    devRootToken: 'root',
    apiAddress: address,
    clock,
  }));
  const call: Running['call'] = async (method, path, body, token = 'root') => {
    const response = await fetch(`${address}/v1/${path}`, {
      method,
      headers: token === '' ? {} : { 'X-Vault-Token': token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  await call('POST', 'sys/auth/userpass', { type: 'userpass' });
  await call('PUT', 'sys/policies/acl/tokens', { policy: 'path "identity/oidc/*" { capabilities = ["read", "update"] }' });
  await call('POST', 'auth/userpass/users/ann', { password: 'correct horse', token_policies: 'tokens' });
  const login = async (): Promise<string> => {
    const answer = await call('POST', 'auth/userpass/login/ann', { password: 'correct horse' }, '');
    return (answer['auth'] as { client_token: string }).client_token;
  };
  return {
    ...{ address, call, login },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await core.close();
    },
  };
}

describe('jose, which knows nothing but the address of the issuer', () => {
  let server: Running;
  let fetched = 0;
  const tokenOf = async (role: string): Promise<string> => {
    const answer = await server.call('GET', `identity/oidc/token/${role}`, undefined, await server.login());
    return (answer['data'] as { token: string }).token;
  };

  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => server.stop());

  /** A key set that is fetched when it is first needed, and after that only for a key that is not in it. */
  const remoteKeys = async (): Promise<ReturnType<typeof createRemoteJWKSet>> => {
    const configuration = await server.call('GET', 'identity/oidc/.well-known/openid-configuration', undefined, '');
    return createRemoteJWKSet(new URL(String(configuration['jwks_uri'])), {
      cacheMaxAge: Infinity,
      cooldownDuration: Infinity,
      [customFetch]: async (url, options) => {
        fetched += 1;
        return fetch(url, options);
      },
    });
  };
  const verified = async (token: string, keys: ReturnType<typeof createRemoteJWKSet>): Promise<string> => {
    const issuer = `${server.address}/v1/identity/oidc`;
    const { payload } = await jwtVerify(token, keys, { issuer, audience: 'app', currentDate: clock.now(), algorithms: ALGORITHMS });
    return String(payload['name']);
  };

  for (const algorithm of ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    test(`verifies tokens signed by ${algorithm}`, async () => {
      await server.call('POST', `identity/oidc/key/${algorithm}`, { algorithm, allowed_client_ids: '*' });
      const template = '{"name": {{identity.entity.name}}}';
      await server.call('POST', `identity/oidc/role/${algorithm}`, { key: algorithm, client_id: 'app', template });
      expect(await verified(await tokenOf(algorithm), await remoteKeys())).toMatch(/^entity_/);
    });
  }

  test('verifies across rotations: by the key that was published as the next one, and by a retired one for its time', async () => {
    await server.call('POST', 'identity/oidc/key/k', {
      ...{ algorithm: 'ES256', allowed_client_ids: '*', rotation_period: '1h', verification_ttl: '2h' },
    });
    const template = '{"name": {{identity.entity.name}}}';
    await server.call('POST', 'identity/oidc/role/r', { key: 'k', ttl: '2h', client_id: 'app', template });
    const keys = await remoteKeys();
    const first = await tokenOf('r');
    fetched = 0;
    await verified(first, keys);
    expect(fetched).toBe(1);

    await clock.advance('1h');
    await settled(server);
    const second = await tokenOf('r');
    expect(kidOf(second)).not.toBe(kidOf(first));
    // Known since the first fetch.
    await verified(second, keys);
    expect(fetched).toBe(1);
    // Who comes now verifies what was signed before.
    const later = await remoteKeys();
    await verified(first, later);

    await clock.advance('1h');
    await settled(server);
    await expect(verified(first, later)).rejects.toThrow('"exp" claim timestamp check failed');
    await clock.advance('1h');
    await settled(server);
    await expect(verified(first, await remoteKeys())).rejects.toThrow('no applicable key found in the JSON Web Key Set');
    await verified(await tokenOf('r'), await remoteKeys());
  });
});

describe('openid-client, which knows nothing but the address of the provider', () => {
  let server: Running;
  let issuer: URL;
  const redirect = 'http://127.0.0.1:49152/callback';
  const clients = new Map<string, { client_id: string; client_secret?: string }>();

  beforeAll(async () => {
    server = await start();
    await server.call('POST', 'identity/oidc/scope/profile', { template: '{"name": {{identity.entity.name}}}' });
    for (const client_type of ['confidential', 'public']) {
      const path = `identity/oidc/client/${client_type}`;
      await server.call('POST', path, { client_type, redirect_uris: 'http://127.0.0.1/callback', assignments: 'allow_all' });
      clients.set(client_type, (await server.call('GET', path))['data'] as { client_id: string });
    }
    await server.call('POST', 'identity/oidc/provider/apps', { allowed_client_ids: '*', scopes_supported: 'profile' });
    issuer = new URL(`${server.address}/v1/identity/oidc/provider/apps`);
  });
  afterAll(async () => server.stop());

  const discovered = async (type: string, auth: (secret: string) => ClientAuth): Promise<Configuration> => {
    const { client_id, client_secret = '' } = clients.get(type)!;
    return discovery(issuer, client_id, undefined, auth(client_secret), { execute: [allowInsecureRequests] });
  };

  /** What a page that the person is logged in at does: asks for the code by their token, and sends them back with it. */
  const authorized = async (url: URL, token: string): Promise<URL> => {
    const response = await fetch(url, { headers: { 'X-Vault-Token': token } });
    const answer = (await response.json()) as Record<string, string>;
    const back = new URL(redirect);
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
    return back;
  };

  for (const [type, words, auth] of [
    ['confidential', 'with its secret in the header', ClientSecretBasic],
    ['confidential', 'with its secret in the body', ClientSecretPost],
    ['public', 'with PKCE alone', () => None()],
  ] as const) {
    test(`logs a person in at a ${type} client ${words}`, async () => {
      const configuration = await discovered(type, auth);
      const [verifier, nonce, state] = [randomPKCECodeVerifier(), randomNonce(), randomState()];
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirect,
        scope: 'openid profile',
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        nonce,
        state,
        max_age: '600',
      });
      const back = await authorized(url, await server.login());
      const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, maxAge: 600, idTokenExpected: true };
      const tokens = await authorizationCodeGrant(configuration, back, checks);
      const claims = tokens.claims()!;
      expect(claims).toMatchObject({ iss: issuer.href, aud: clients.get(type)!.client_id, name: expect.stringMatching(/^entity_/) });
      const person = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      expect(person).toEqual({ sub: claims.sub, name: claims['name'] });
      await expect(authorizationCodeGrant(configuration, back, checks)).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
    });
  }

  test('reads why a client or a person is refused', async () => {
    const configuration = await discovered('confidential', () => ClientSecretBasic('wrong'));
    const [verifier, state] = [randomPKCECodeVerifier(), randomState()];
    const parameters = {
      ...{ redirect_uri: redirect, scope: 'openid', state, code_challenge_method: 'S256' },
      code_challenge: await calculatePKCECodeChallenge(verifier),
    };
    const back = await authorized(buildAuthorizationUrl(configuration, parameters), await server.login());
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    await expect(authorizationCodeGrant(configuration, back, checks)).rejects.toMatchObject({ status: 401 });
    const nobody = await authorized(buildAuthorizationUrl(configuration, parameters), 'root');
    await expect(authorizationCodeGrant(configuration, nobody, checks)).rejects.toMatchObject({ error: 'access_denied' });
  });
});

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

function kidOf(token: string): string {
  return (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
}

/** Waits until no rotation is due. */
async function settled(server: Running): Promise<void> {
  for (;;) {
    const { jobs } = (await server.call('GET', 'sys/schedule'))['data'] as { jobs: { next_attempt: string; state: string }[] };
    if (jobs.every((job) => job.state === 'waiting' && Date.parse(job.next_attempt) > clock.millis())) return;
  }
}
