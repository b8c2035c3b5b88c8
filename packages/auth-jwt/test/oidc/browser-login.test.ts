import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { dataOf, LOCAL, loginLab, NONCE, refusalOf, type LoginLab } from './login-lab.ts';

let lab: LoginLab;
beforeEach(async () => {
  lab = await loginLab();
  await lab.config();
  await lab.role('web');
});
afterEach(async () => lab.close());

const EXPIRED = '400 Strongroom login failed. Expired or missing OAuth state.';

describe('a login with a browser', () => {
  test('asks the provider with PKCE, state and nonce, and gets a token for what it vouches for', async () => {
    const begun = await lab.begin();
    const asked = new URL(dataOf(begun)['auth_url'] ?? '').searchParams;
    expect(Object.keys(dataOf(begun))).toEqual(['auth_url']);
    expect(Object.fromEntries(asked)).toEqual({
      client_id: 'lab-client',
      redirect_uri: LOCAL,
      response_type: 'code',
      scope: 'openid email',
      state: expect.stringMatching(/^st_\w{20}$/),
      nonce: expect.stringMatching(/^n_\w{20}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const { status, auth } = await lab.callback(await lab.visit(begun));
    expect(status).toBe(200);
    expect(auth).toMatchObject({
      policies: ['default', 'web'],
      metadata: { full_name: 'Alice', role: 'web' },
      lease_duration: 600,
      orphan: true,
      token_type: 'service',
    });
    const looked = await lab.call('read', 'auth/token/lookup-self', { token: auth!.client_token });
    expect(looked.data).toMatchObject({ display_name: 'oidc-alice@example.org', path: 'auth/oidc/oidc/callback' });
  });

  test('spends its state with the first callback, whatever comes of it', async () => {
    const done = await lab.visit(await lab.begin());
    expect((await lab.callback(done)).status).toBe(200);
    expect(refusalOf(await lab.callback(done))).toBe(EXPIRED);
    const refused = await lab.visit(await lab.begin());
    expect(refusalOf(await lab.callback(refused, { client_nonce: 'other' }))).toBe('400 invalid client_nonce');
    expect(refusalOf(await lab.callback(refused))).toBe(EXPIRED);
    expect(refusalOf(await lab.callback({ fields: new URLSearchParams({ state: 'st_unknown', code: 'x' }) }))).toBe(EXPIRED);
  });

  test('gives one token for twenty callbacks at once', async () => {
    const back = await lab.visit(await lab.begin());
    const answers = await Promise.all(Array.from({ length: 20 }, () => lab.callback(back)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(refusalOf))).toEqual(new Set([EXPIRED]));
  });

  test('ends ten minutes after it began', async () => {
    const early = await lab.visit(await lab.begin());
    await lab.clock.advance('9m');
    // The code is of the provider, and expires sooner.
    expect(refusalOf(await lab.callback(early))).toContain('Error exchanging oidc code: "invalid_grant: the code is expired".');
    const back = await lab.visit(await lab.begin());
    await lab.clock.advance('10m');
    expect(refusalOf(await lab.callback(back))).toBe(EXPIRED);
  });

  test('leaves nothing in the store when nobody completes it', async () => {
    const storage = memoryStorage();
    const abandoned = await loginLab({ storage });
    await abandoned.config();
    await abandoned.role('web');
    const records = async () => (await storage.range({})).filter(({ key }) => key.includes('oidc-flow')).length;
    await abandoned.begin();
    expect(await records()).toBeGreaterThan(0);
    await abandoned.advance('11m');
    expect(await records()).toBe(0);
    await abandoned.close();
  });

  test('goes on at another server of the store', async () => {
    const store = sharedMemory();
    const first = await loginLab({ storage: store.open() });
    await first.config();
    await first.role('web');
    const second = await loginLab({ storage: store.open(), clock: first.clock, beside: first });
    try {
      const back = await first.visit(await first.begin());
      expect((await second.callback(back)).status).toBe(200);
      expect(refusalOf(await first.callback(back))).toBe(EXPIRED);
    } finally {
      await second.close();
      await first.close();
    }
  });

  test('needs no nonce of a program that gave none, and ignores what providers add', async () => {
    const back = await lab.visit(await lab.begin({ client_nonce: '' }));
    const answer = await lab.browse(back, { session_state: 'x', nonce: 'hvac sends it' });
    expect({ status: answer.status, warnings: answer.warnings }).toEqual({ status: 200, warnings: null });
  });

  test('reports what the provider refuses', async () => {
    lab.provider.person.consents = false;
    expect(refusalOf(await lab.login())).toBe('400 Strongroom login failed. access_denied');
    const odd = await lab.visit(await lab.begin());
    odd.fields.set('error', '<b>odd</b>');
    expect(refusalOf(await lab.callback(odd))).toBe(
      '400 Strongroom login failed. An unknown error occurred during OIDC authentication. Check server logs for details',
    );
    lab.provider.person.consents = true;
    const bogus = await lab.visit(await lab.begin());
    bogus.fields.set('code', 'bogus');
    expect(refusalOf(await lab.callback(bogus))).toContain('Strongroom login failed. Error exchanging oidc code: "invalid_grant');
    const empty = await lab.visit(await lab.begin());
    empty.fields.delete('code');
    expect(refusalOf(await lab.callback(empty))).toBe('400 Strongroom login failed. No code or id_token received.');
  });

  test('says what is missing, and does not tell roles that exist from those that do not', async () => {
    expect(refusalOf(await lab.begin({ redirect_uri: '' }))).toBe('400 missing redirect_uri');
    expect(refusalOf(await lab.begin({ role: 'none', redirect_uri: '' }))).toBe('400 missing redirect_uri');
    for (const data of [{ role: 'none' }, { redirect_uri: 'http://evil.example/oidc/callback' }]) {
      const { status, data: answer } = await lab.begin(data);
      expect({ status, answer }).toEqual({ status: 200, answer: { auth_url: '' } });
    }
    await lab.config({ default_role: '' });
    expect(refusalOf(await lab.begin())).toBe('400 missing role');
    await lab.write('config', { oidc_discovery_url: lab.issuer.url });
    expect(refusalOf(await lab.begin({ role: 'web' }))).toBe('400 OIDC login is not configured for this mount');
  });

  test('is refused outside the addresses of the role, before the provider is asked', async () => {
    await lab.role('web', { token_bound_cidrs: '10.0.0.0/8' });
    const back = await lab.visit(await lab.begin());
    const calls = lab.provider.calls.length;
    expect(refusalOf(await lab.callback(back))).toBe('403 permission denied');
    expect(lab.provider.calls).toHaveLength(calls);
  });

  test('does not survive another provider, another client, or another mode of its role', async () => {
    const change = async (how: () => Promise<void>): Promise<string> => {
      const back = await lab.visit(await lab.begin());
      await how();
      const refusal = refusalOf(await lab.callback(back));
      await lab.config();
      await lab.role('web');
      return refusal;
    };
    expect(await change(() => lab.config({ oidc_client_id: 'other' }))).toBe(EXPIRED);
    expect(await change(() => lab.role('web', { callback_mode: 'direct' }))).toContain('Role could not be found.');
    expect(await change(async () => void (await lab.delete('role/web')))).toContain('Role could not be found.');
  });

  test('renews by its role, without the provider', async () => {
    const { auth } = await lab.login();
    lab.issuer.outage({ refusing: true });
    const renew = async () => lab.call('update', 'auth/token/renew-self', { data: {}, token: auth!.client_token });
    expect((await renew()).auth).toMatchObject({ lease_duration: 600 });
    await lab.delete('role/web');
    expect(refusalOf(await renew())).toContain('role web does not exist during renewal');
  });
});

describe('the claims of a login', () => {
  test('are those of the ID token, and of userinfo where it is about the same subject', async () => {
    await lab.role('web', { bound_claims: { team: 'blue' }, claim_mappings: { team: 'team' } });
    expect(refusalOf(await lab.login())).toContain('Strongroom login failed. error validating claims: claim "team" is missing');
    lab.provider.userinfoClaims = { team: 'blue', iss: 'https://evil.example' };
    expect((await lab.login()).auth?.metadata).toEqual({ role: 'web', team: 'blue' });
    lab.provider.userinfoClaims = { team: 'blue', sub: 'mallory' };
    expect(refusalOf(await lab.login())).toContain('claim "team" is missing');
    expect(lab.lines.join()).toContain('the userinfo of a login could not be used');
  });

  test('go on without userinfo when it is down', async () => {
    lab.provider.faults.set('userinfo', { status: 503 });
    expect((await lab.login()).status).toBe(200);
  });

  test('put tokens of the provider into the metadata of the token alone', async () => {
    await lab.role('web', { oauth2_metadata: 'access_token,id_token,refresh_token' });
    const { auth } = await lab.login();
    expect(Object.keys(auth!.metadata!).sort()).toEqual([
      'full_name',
      'oauth2_access_token',
      'oauth2_id_token',
      'oauth2_refresh_token',
      'role',
    ]);
    const entity = await lab.call('read', `identity/entity/id/${auth!.entity_id}`);
    expect(JSON.stringify(entity.data)).not.toContain('oauth2');
  });

  test('must be fresh where the role has a max_age', async () => {
    await lab.role('web', { max_age: 60 });
    expect((await lab.login()).status).toBe(200);
    lab.provider.forgery = { claims: { auth_time: lab.issuer.clock() - 600 } };
    expect(refusalOf(await lab.login())).toMatch(/^400 Token verification failed\./);
  });

  test('may be as late as the role allows for clocks that differ', async () => {
    lab.provider.forgery = { claims: { exp: lab.issuer.clock() - 120 } };
    expect(refusalOf(await lab.login())).toContain('token is expired');
    await lab.role('web', { clock_skew_leeway: 300 });
    expect((await lab.login()).status).toBe(200);
  });

  test.each([
    ['a signature of another key', { key: true as const }],
    ['another audience', { claims: { aud: 'somebody-else' } }],
    ['another party among several audiences', { claims: { aud: ['lab-client', 'x'], azp: 'x' } }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another nonce', { claims: { nonce: 'n_other' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['an age that is over', { claims: { exp: 1 } }],
  ])('are refused with %s', async (_what, forgery) => {
    lab.provider.forgery = forgery;
    expect(refusalOf(await lab.login())).toMatch(/^400 Token verification failed\./);
  });
});

describe('the redirect of a login', () => {
  test.each([
    ['http://localhost:9999/oidc/callback', true],
    ['http://localhost/oidc/callback', true],
    ['http://127.0.0.1:8250/oidc/callback', false],
    ['https://localhost:8250/oidc/callback', false],
    ['http://localhost:8250/oidc/callback/', false],
    ['http://localhost:8250/oidc/callback?x=1', false],
    ['http://localhost:8250@evil.example/oidc/callback', false],
    ['http://localhost.evil.example:8250/oidc/callback', false],
    ['http://LOCALHOST:8250/oidc/callback', false],
    ['http://localhost:8250\\@evil.example/oidc/callback', false],
  ])('%s is allowed: %s', async (uri, allowed) => {
    expect(dataOf(await lab.begin({ redirect_uri: uri }))['auth_url'] !== '').toBe(allowed);
  });

  test('takes the port of an allowed address that is not this machine to the letter', async () => {
    await lab.role('web', { allowed_redirect_uris: 'https://app.example:8443/cb' });
    expect(dataOf(await lab.begin({ redirect_uri: 'https://app.example:9443/cb' }))['auth_url']).toBe('');
    expect(dataOf(await lab.begin({ redirect_uri: 'https://app.example:8443/cb' }))['auth_url']).not.toBe('');
  });

  test('moves the namespace of a web interface into the state', async () => {
    const begun = await lab.begin({ redirect_uri: `${LOCAL}?namespace=team` });
    const asked = new URL(dataOf(begun)['auth_url'] ?? '').searchParams;
    expect(asked.get('redirect_uri')).toBe(LOCAL);
    expect(asked.get('state')).toMatch(/^st_\w{20},ns=team$/);
    const back = await lab.visit(begun);
    back.fields.set('state', back.fields.get('state')!.split(',')[0]!);
    expect((await lab.callback(back)).status).toBe(200);
  });
});

describe('a provider that is down', () => {
  test('is named, never with the secret of the client, and the login can be completed later', async () => {
    const begun = await lab.begin();
    const back = await lab.visit(begun);
    lab.provider.faults.set('token', { status: 503, body: 'lab-secret' });
    const refusal = refusalOf(await lab.callback(back));
    expect(refusal).toContain(`500 1 error occurred:\n\t* No response from provider. ${lab.issuer.url} answers 503`);
    expect(refusal + lab.lines.join()).not.toContain('lab-secret');
    lab.provider.faults.clear();
    expect((await lab.callback(back)).status).toBe(200);
  });

  test('opens the circuit breaker of its own calls, and the mount answers the rest', async () => {
    lab.provider.faults.set('token', { status: 503 });
    const back = await lab.visit(await lab.begin());
    for (let calls = 0; calls < 6; calls += 1) await lab.callback(back);
    const open = await lab.callback(back);
    expect({ status: open.status, retry: open.headers?.['Retry-After'] }).toEqual({ status: 503, retry: expect.any(String) });
    expect((await lab.call('read', `${lab.path}/role/web`)).status).toBe(200);
  });

  test('that never answers is given up at its deadline', async () => {
    lab.provider.faults.set('token', 'silent');
    const answer = lab.callback(await lab.visit(await lab.begin()));
    while (!lab.provider.calls.includes('token')) await new Promise((resolve) => setImmediate(resolve));
    await lab.clock.advance(11);
    expect(refusalOf(await answer)).toContain('No response from provider.');
  });

  test('that answers garbage has failed, and not the caller', async () => {
    const back = await lab.visit(await lab.begin());
    lab.provider.faults.set('token', { status: 200, body: '<html>' });
    expect(refusalOf(await lab.callback(back))).toContain(
      `500 1 error occurred:\n\t* No response from provider. ${lab.issuer.url}: unexpected`,
    );
  });

  test('refuses the client with a text that does not have its secret', async () => {
    await lab.config({ oidc_client_secret: 'wrong-secret' });
    const refusal = refusalOf(await lab.login());
    expect(refusal).toBe('400 Strongroom login failed. Error exchanging oidc code: "the provider refused the credentials of the client".');
    expect(refusal + lab.lines.join()).not.toContain('wrong-secret');
  });
});

describe('the answer of another provider', () => {
  const completed = async (more: Record<string, string>) => lab.callback(await lab.visit(await lab.begin()), more);

  test('is refused where it says so, and its code goes nowhere', async () => {
    expect(refusalOf(await completed({ iss: 'https://other.example' }))).toBe(
      '400 Strongroom login failed. Another provider has answered.',
    );
    expect(lab.provider.calls).not.toContain('token');
    expect((await completed({ iss: lab.issuer.url })).status).toBe(200);
  });
});

describe('what a login stores for everybody', () => {
  test('is short', async () => {
    const long = (count: number): string => 'x'.repeat(count);
    expect(refusalOf(await lab.begin({ client_nonce: long(513) }))).toBe('400 client_nonce is longer than 512 characters');
    expect(refusalOf(await lab.begin({ redirect_uri: long(2_049) }))).toBe('400 redirect_uri is longer than 2048 characters');
    await lab.config({ oidc_response_mode: 'form_post' });
    const { fields } = await lab.visit(await lab.begin());
    const data = { ...Object.fromEntries(fields), code: long(65_537) };
    const posted = await lab.call('update', `${lab.path}/oidc/callback`, { data, token: '' });
    expect(refusalOf(posted)).toBe('400 Strongroom login failed. The answer of the provider is longer than 65536 characters.');
  });
});

describe('a provider that posts its answer', () => {
  const posted = async (fields: URLSearchParams) =>
    lab.call('update', `${lab.path}/oidc/callback`, { data: Object.fromEntries(fields), token: '' });

  test('is not listened to unless the configuration says so', async () => {
    const back = await lab.visit(await lab.begin());
    expect(refusalOf(await posted(back.fields))).toBe('405 unsupported operation: oidc_response_mode is not form_post');
  });

  test.each([
    ['a code', {}],
    ['an ID token', { oidc_response_types: 'id_token' }],
  ])('%s, which the callback by GET completes', async (_what, types) => {
    await lab.config({ oidc_response_mode: 'form_post', ...types });
    const begun = await lab.begin();
    const back = await lab.visit(begun);
    expect(back.method).toBe('POST');
    const page = await posted(back.fields);
    const state = back.fields.get('state')!;
    expect({ status: page.status, type: page.raw?.contentType }).toEqual({ status: 200, type: 'text/html; charset=utf-8' });
    expect(page.raw?.body).toContain(`url=?state=${state}&amp;code=no_code`);
    expect(page.raw?.body).not.toContain(back.fields.get('code') ?? back.fields.get('id_token'));
    expect(refusalOf(await posted(back.fields))).toBe(EXPIRED);
    const fields = new URLSearchParams({ state, code: 'no_code' });
    expect(refusalOf(await lab.callback({ fields }, { client_nonce: `${NONCE}x` }))).toBe('400 invalid client_nonce');
    const again = await lab.visit(await lab.begin());
    await posted(again.fields);
    again.fields.set('code', 'no_code');
    expect((await lab.callback(again)).auth).toMatchObject({ metadata: { role: 'web' } });
  });

  test('an ID token that somebody else has signed is refused', async () => {
    await lab.config({ oidc_response_mode: 'form_post', oidc_response_types: 'id_token' });
    lab.provider.forgery = { key: true };
    const back = await lab.visit(await lab.begin());
    await posted(back.fields);
    expect(refusalOf(await lab.callback(back))).toMatch(/^400 Token verification failed\./);
  });
});
