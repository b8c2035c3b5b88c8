import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { manualClock, mountForTest, sharedMemory, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { passwordLogin } from '../../password-login.ts';
import { answered, ISSUER, login } from './issuer.ts';

const CALLBACK = 'https://app.example.org/cb';

describe('the OpenID provider', () => {
  let clock: ManualClock;
  /** Two servers of one store. */
  let one: TestMount;
  let two: TestMount;
  let ann: string;
  let entity: string;
  let client: { client_id: string; client_secret: string };
  let spa: string;

  beforeAll(async () => {
    const disk = sharedMemory();
    clock = manualClock();
    one = await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock });
    two = await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock });
    const write = async (path: string, data: Record<string, unknown>) => answered(one, 'update', path, data);
    const policy = 'path "identity/oidc/provider/*" { capabilities = ["read", "update"] }';
    await write('sys/policies/acl/reader', { policy });
    await write('auth/pw/users/ann', { password: 'p', policies: 'reader' });
    ann = await login(one);
    entity = String((await answered(one, 'read', 'auth/token/lookup-self', {}, ann))['entity_id']);
    await write(`identity/entity/id/${entity}`, { name: 'ann', metadata: { team: 'red' } });
    await write('identity/oidc/key/k', { algorithm: 'ES256', allowed_client_ids: '*' });
    await write('identity/oidc/scope/team', { template: '{"team": {{identity.entity.metadata.team}}}' });
    await write('identity/oidc/scope/squad', { template: '{"team": "blue"}' });
    await write('identity/oidc/assignment/some', { entity_ids: [entity] });
    await write('identity/oidc/client/app', {
      key: 'k',
      redirect_uris: [CALLBACK, 'http://127.0.0.1/cb'],
      assignments: 'some',
      access_token_ttl: '1h',
    });
    client = (await answered(one, 'read', 'identity/oidc/client/app')) as typeof client;
    await write('identity/oidc/client/spa', { key: 'k', client_type: 'public', redirect_uris: CALLBACK, assignments: 'allow_all' });
    spa = String((await answered(one, 'read', 'identity/oidc/client/spa'))['client_id']);
    await write('identity/oidc/provider/p', {
      issuer: ISSUER,
      allowed_client_ids: [client.client_id, spa],
      scopes_supported: ['team', 'squad'],
    });
  });
  afterAll(async () => {
    await one.close();
    await two.close();
  });

  const authorize = async (request: Record<string, unknown> = {}, token = ann): Promise<Record<string, unknown>> =>
    answered(
      one,
      'read',
      'identity/oidc/provider/p/authorize',
      { client_id: client.client_id, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid team', state: 's', ...request },
      token,
    );
  const codeOf = async (request: Record<string, unknown> = {}): Promise<string> => String((await authorize(request))['code']);
  const exchange = async (
    request: Record<string, unknown>,
    { at = two, authorization }: { at?: TestMount; authorization?: string } = {},
  ): Promise<Record<string, unknown>> => {
    const credentials = authorization === undefined ? { client_id: client.client_id, client_secret: client.client_secret } : {};
    const answer = await at.core.handle({
      operation: 'update',
      path: 'identity/oidc/provider/p/token',
      data: { grant_type: 'authorization_code', redirect_uri: CALLBACK, ...credentials, ...request },
      ...(authorization === undefined ? {} : { headers: { authorization } }),
    });
    return { status: answer.status, ...(JSON.parse(answer.raw!.body as string) as object) };
  };
  const userInfo = async (authorization: string): Promise<Record<string, unknown>> => {
    const path = 'identity/oidc/provider/p/userinfo';
    const answer = await one.core.handle({ operation: 'read', path, headers: { authorization } });
    return { status: answer.status, ...(JSON.parse(answer.raw!.body as string) as object) };
  };
  const refusal = (code: string, text: string, status = 400): object => ({ status, error: code, error_description: text });

  test('lets a client exchange a code at another server, with claims of the scopes that it asked for', async () => {
    const code = await codeOf({ nonce: 'n', max_age: '60' });
    const tokens = await exchange({ code });
    expect(tokens).toEqual({
      status: 200,
      token_type: 'Bearer',
      access_token: expect.any(String),
      id_token: expect.any(String),
      expires_in: 3_600,
    });
    const claims = JSON.parse(Buffer.from(String(tokens['id_token']).split('.')[1]!, 'base64url').toString()) as object;
    const half = (text: unknown): string => createHash('sha256').update(String(text)).digest().subarray(0, 16).toString('base64url');
    const now = Math.floor(clock.millis() / 1_000);
    expect(claims).toEqual({
      iss: `${ISSUER}/v1/identity/oidc/provider/p`,
      sub: entity,
      aud: client.client_id,
      iat: now,
      exp: now + 86_400,
      namespace: 'root',
      nonce: 'n',
      auth_time: now,
      at_hash: half(tokens['access_token']),
      c_hash: half(code),
      team: 'red',
    });
    expect(await userInfo(`Bearer ${String(tokens['access_token'])}`)).toEqual({ status: 200, sub: entity, team: 'red' });
  });

  test('takes the credentials of a client in the header or in the body, and refuses all wrong ones alike', async () => {
    const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    expect(await exchange({ code: await codeOf() }, { authorization: basic(client.client_id, client.client_secret) })).toMatchObject({
      status: 200,
    });
    const refused = refusal('invalid_client', 'client failed to authenticate', 401);
    const code = await codeOf();
    expect(await exchange({ code }, { authorization: basic(client.client_id, 'wrong') })).toEqual(refused);
    expect(await exchange({ code }, { authorization: basic('nobody', client.client_secret) })).toEqual(refused);
    expect(await exchange({ code }, { authorization: 'Basic %%%' })).toEqual(refused);
    expect(await exchange({ code, client_secret: '' })).toEqual(refused);
    expect(await exchange({ code, client_id: 'nobody' })).toEqual(refused);
    expect(await exchange({ code })).toMatchObject({ status: 200 });
  });

  test('honors a code once: of many exchanges at once at two servers, one succeeds', async () => {
    const code = await codeOf();
    const all = await Promise.all(Array.from({ length: 20 }, async (_, i) => exchange({ code }, { at: i % 2 === 0 ? one : two })));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(all.filter(({ error }) => error === 'invalid_grant')).toHaveLength(19);
  });

  test('honors a code for five minutes, and keeps none after that', async () => {
    const expired = refusal('invalid_grant', 'authorization grant is invalid or expired');
    const good = await codeOf();
    const late = await codeOf();
    await clock.advance('4m59s');
    expect(await exchange({ code: good })).toMatchObject({ status: 200 });
    await clock.advance('1s');
    expect(await exchange({ code: late })).toEqual(expired);
    await one.core.settleSchedule();
    const jobs = (await answered(one, 'read', 'sys/schedule'))['jobs'] as { kind: string }[];
    expect(jobs.filter(({ kind }) => kind === 'identity-code-expiry')).toEqual([]);
  });

  test('burns a code with a wrong redirect_uri, but not for a client that it was not issued to', async () => {
    const code = await codeOf();
    const verifier = 'v'.repeat(43);
    expect(await exchange({ code, client_id: spa, client_secret: '', code_verifier: verifier })).toEqual(
      refusal('invalid_grant', 'authorization code was not issued to the client'),
    );
    expect(await exchange({ code, redirect_uri: 'https://app.example.org/other' })).toEqual(
      refusal('invalid_grant', 'redirect_uri does not match the redirect_uri used in the authorization request'),
    );
    expect(await exchange({ code })).toEqual(refusal('invalid_grant', 'authorization grant is invalid or expired'));
  });

  test('wants PKCE of public clients, and checks the verifier of all', async () => {
    const verifier = 'verifier-of-at-least-forty-three-characters-1';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    expect(await authorize({ client_id: spa })).toEqual({
      error: 'invalid_request',
      error_description: 'PKCE is required for public clients',
      state: 's',
    });
    const asSpa = async (request: Record<string, unknown>, sent: string): Promise<unknown> => {
      const code = await codeOf({ client_id: spa, ...request });
      return exchange({ code, client_id: spa, client_secret: '', code_verifier: sent });
    };
    const s256 = { code_challenge: challenge, code_challenge_method: 'S256' };
    expect(await asSpa(s256, verifier)).toMatchObject({ status: 200 });
    expect(await asSpa({ code_challenge: verifier }, verifier)).toMatchObject({ status: 200 });
    expect(await asSpa(s256, challenge)).toEqual(refusal('invalid_grant', 'invalid code_verifier for token exchange'));
    expect(await asSpa(s256, '')).toEqual(refusal('invalid_request', 'expected code_verifier for token exchange'));
    expect(await authorize({ client_id: spa, code_challenge: 'short' })).toMatchObject({ error_description: 'invalid code_challenge' });
    expect(await authorize({ ...s256, code_challenge_method: 'S512' })).toMatchObject({
      error_description: 'invalid code_challenge_method',
    });
    expect(await exchange({ code: await codeOf(), code_verifier: verifier })).toEqual(
      refusal('invalid_request', 'unexpected code_verifier for token exchange'),
    );
  });

  test('sends codes only to addresses of the client; on the loopback interface to any port', async () => {
    expect(await authorize({ redirect_uri: 'http://127.0.0.1:49152/cb' })).toMatchObject({ state: 's', code: expect.any(String) });
    for (const redirect_uri of ['http://127.0.0.1:49152/other', `${CALLBACK}/more`, `${CALLBACK}?x=1`, 'http://localhost/cb', '']) {
      expect(await authorize({ redirect_uri })).toMatchObject({ error: expect.stringMatching(/^invalid_re/), state: 's' });
    }
  });

  test('refuses what it does not support, and a person whom no assignment names', async () => {
    const reasons = async (request: Record<string, unknown>, token = ann): Promise<unknown> => (await authorize(request, token))['error'];
    expect(await reasons({ request: 'jwt' })).toBe('request_not_supported');
    expect(await reasons({ request_uri: 'urn:x' })).toBe('request_uri_not_supported');
    expect(await reasons({ max_age: '0' })).toBe('invalid_request');
    expect(await reasons({ client_id: '' })).toBe('invalid_client_id');
    expect(await reasons({ response_type: '' })).toBe('invalid_request');
    expect(await reasons({}, 'root')).toBe('access_denied');
    await answered(one, 'update', 'identity/oidc/assignment/some', { entity_ids: [] });
    expect(await reasons({})).toBe('access_denied');
    await answered(one, 'update', 'identity/oidc/assignment/some', { entity_ids: [entity] });
    expect(await reasons({})).toBeUndefined();
    await clock.advance('1m');
    expect(await reasons({ max_age: '1' })).toBe('max_age_violation');
    // A new token of an old login is no new login.
    const policy = 'path "auth/token/create" { capabilities = ["update"] } path "identity/oidc/*" { capabilities = ["read", "update"] }';
    await answered(one, 'update', 'sys/policies/acl/reader', { policy });
    const { auth } = await one.call('update', 'auth/token/create', { token: ann });
    expect(await reasons({}, auth!.client_token)).toBeUndefined();
    expect(await reasons({ max_age: '1' }, auth!.client_token)).toBe('max_age_violation');
  });

  test('does not mix scopes that set the same claim', async () => {
    const warned = await one.call('update', 'identity/oidc/provider/q', { data: { scopes_supported: 'team,squad' } });
    expect(warned.warnings).toEqual([expect.stringContaining('conflict "team" in scopes "squad", "team"')]);
    expect(await exchange({ code: await codeOf({ scope: 'openid team squad' }) })).toEqual(
      refusal('invalid_request', 'found scopes with conflicting top-level claim: claim "team" in scopes "squad", "team"'),
    );
  });

  test('gives an application no more than the claims: its access token is no token of the server', async () => {
    const tokens = await exchange({ code: await codeOf() });
    const access = String(tokens['access_token']);
    expect((await one.call('read', 'auth/token/lookup-self', { token: access })).status).toBe(403);
    const denied = refusal('invalid_token', 'permission denied', 401);
    expect(await userInfo(`Bearer ${ann}`)).toEqual(denied);
    expect(await userInfo('Bearer root')).toEqual(denied);
    expect(await userInfo(`Bearer ${access.replace(/.(?=.{20}$)/, (char) => (char === 'A' ? 'B' : 'A'))}`)).toEqual(denied);
    expect(await userInfo(access)).toMatchObject({ error_description: 'access token must be sent as a Bearer token' });
    await answered(one, 'update', `identity/entity/id/${entity}`, { disabled: true });
    expect(await userInfo(`Bearer ${access}`)).toEqual(
      refusal('access_denied', 'identity entity not authorized by client assignment', 403),
    );
    await answered(one, 'update', `identity/entity/id/${entity}`, { disabled: false });
    expect(await userInfo(`Bearer ${access}`)).toMatchObject({ status: 200 });
    await clock.advance('1h');
    expect(await userInfo(`Bearer ${access}`)).toEqual(denied);
  });

  test('publishes the keys of its clients, and of no others', async () => {
    await answered(one, 'update', 'identity/oidc/key/other', { algorithm: 'ES256' });
    await answered(one, 'update', 'identity/oidc/client/elsewhere', { key: 'other' });
    const keys = async (provider: string): Promise<unknown> =>
      (await answered(two, 'read', `identity/oidc/provider/${provider}/.well-known/keys`, {}, ''))['keys'];
    expect(await keys('p')).toHaveLength(2);
    expect(await keys('default')).toHaveLength(4);
    expect((await two.call('read', 'identity/oidc/provider/none/.well-known/keys', { token: '' })).status).toBe(404);
  });

  test('keeps what a client is: its key, its type, its id and its secret', async () => {
    const save = async (data: Record<string, unknown>): Promise<unknown> => answered(one, 'update', 'identity/oidc/client/app', data);
    await expect(save({ key: 'other' })).rejects.toThrow('400 key modification is not allowed');
    await expect(save({ client_type: 'public' })).rejects.toThrow('400 client_type modification is not allowed');
    await expect(save({ assignments: 'none' })).rejects.toThrow('400 assignment "none" does not exist');
    await expect(save({ client_credentials: true })).rejects.toThrow('400 authorization_code must be true');
    await expect(save({ id_token_ttl: '48h' })).rejects.toThrow("400 a client's id_token_ttl cannot be greater");
    await expect(answered(one, 'update', 'identity/oidc/client/new', { client_type: 'odd' })).rejects.toThrow(
      '400 invalid client_type "odd"',
    );
    await save({ access_token_ttl: '2h' });
    expect(await answered(one, 'read', 'identity/oidc/client/app')).toMatchObject({ ...client, access_token_ttl: 7_200 });
    expect(JSON.stringify(await answered(one, 'list', 'identity/oidc/client'))).not.toContain('hvo_secret_');
    expect(await answered(one, 'list', 'identity/oidc/provider', { allowed_client_id: spa })).toMatchObject({ keys: ['default', 'p'] });
  });
});
