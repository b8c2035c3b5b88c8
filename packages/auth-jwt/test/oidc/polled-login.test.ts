import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import { dataOf, DIRECT, loginLab, pageOf, refusalOf, type LoginLab } from './login-lab.ts';

let lab: LoginLab;
beforeEach(async () => {
  lab = await loginLab();
  await lab.config();
});
afterEach(async () => lab.close());

const EXPIRED = '400 Strongroom login failed. Expired or missing OAuth state.';
const stateOf = (begun: CoreResponse) => dataOf(begun)['state']!;

describe('a login in the mode direct', () => {
  const begin = async (data: object = {}) => lab.begin({ role: 'direct', redirect_uri: DIRECT, ...data });
  beforeEach(async () => lab.role('direct', { callback_mode: 'direct', allowed_redirect_uris: DIRECT }));

  test('asks the person, then the poll of the program gets the token, once', async () => {
    const begun = await begin();
    const state = stateOf(begun);
    expect(dataOf(begun)).toEqual({ auth_url: expect.any(String), state: expect.stringMatching(/^st_/), poll_interval: '5' });
    expect(refusalOf(await lab.poll(state))).toBe('400 authorization_pending');
    const back = await lab.visit(begun);
    const page = await lab.browse(back);
    expect(page.raw?.contentType).toBe('text/html; charset=utf-8');
    expect(pageOf(page)).toContain('Did you start this login?');
    expect(refusalOf(await lab.poll(state))).toBe('400 authorization_pending');
    expect(pageOf(await lab.browse(back, { confirmation: 'true' }))).toContain('Signed in');
    const { status, auth } = await lab.poll(state);
    expect({ status, metadata: auth?.metadata }).toEqual({ status: 200, metadata: { full_name: 'Alice', role: 'direct' } });
    expect(refusalOf(await lab.poll(state))).toBe(EXPIRED);
  });

  test('names who asks, and lets nothing run, load, or be framed by others', async () => {
    const begun = await lab.call('update', `${lab.path}/oidc/auth_url`, {
      data: { role: 'direct', redirect_uri: DIRECT, client_nonce: 'of-a-phisher' },
      token: '',
      remoteAddress: '203.0.113.7',
    });
    const page = await lab.browse(await lab.visit(begun));
    expect(pageOf(page)).toContain('<b>203.0.113.7</b>');
    expect(pageOf(page)).toContain('the role <b>direct</b>');
    expect(page.headers).toMatchObject({
      'Content-Security-Policy': expect.stringMatching(
        /^default-src 'none';.*form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      ),
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
    });
  });

  test('escapes everything that a page shows', async () => {
    const attack = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;
    const safe = (page: CoreResponse) => {
      expect(page.status).toBeLessThan(500);
      expect(pageOf(page)).not.toMatch(/<script|<img|onerror='/);
    };
    const state = stateOf(await begin());
    safe(await lab.browse({ fields: new URLSearchParams({ state: `${state},ns=${attack}`, code: attack }) }));
    safe(await lab.browse({ fields: new URLSearchParams({ state, error: attack, error_description: attack }) }));
    const begun = await begin();
    lab.provider.faults.set('token', { status: 400, body: { error: attack, error_description: attack } });
    const page = await lab.browse(await lab.visit(begun), { confirmation: 'yes' });
    expect(page.status).toBe(400);
    expect(pageOf(page)).toContain('&lt;script&gt;');
    safe(page);
  });

  test('shows a failure in the browser and tells the program', async () => {
    const begun = await begin();
    const back = await lab.visit(begun);
    back.fields.set('code', 'bogus');
    const page = await lab.browse(back, { confirmation: 'yes' });
    expect({ status: page.status, type: page.raw?.contentType }).toEqual({ status: 400, type: 'text/html; charset=utf-8' });
    expect(pageOf(await lab.browse(back, { confirmation: 'yes' }))).toContain('completed before');
    expect(refusalOf(await lab.poll(stateOf(begun)))).toMatch(
      /^400 authorization failed: Strongroom login failed\. Error exchanging oidc code: "invalid_grant/,
    );
    expect(refusalOf(await lab.poll(stateOf(begun)))).toBe(EXPIRED);
  });

  test('tells the person, too, what the role does not accept', async () => {
    await lab.role('direct', { callback_mode: 'direct', allowed_redirect_uris: DIRECT, bound_claims: { team: 'blue' } });
    const begun = await begin();
    const page = await lab.browse(await lab.visit(begun), { confirmation: 'yes' });
    expect(pageOf(page)).toContain('claim &quot;team&quot; is missing');
    expect(refusalOf(await lab.poll(stateOf(begun)))).toContain('authorization failed: Strongroom login failed. error validating claims');
  });

  test('ends with a poll that shows another nonce', async () => {
    const begun = await begin();
    expect(refusalOf(await lab.poll(stateOf(begun), 'other'))).toBe('400 invalid client_nonce');
    expect(refusalOf(await lab.poll(stateOf(begun)))).toBe(EXPIRED);
    expect(refusalOf(await begin({ client_nonce: '' }))).toBe('400 missing client_nonce');
  });

  test('redeems the code once for twenty confirmations, and grants one token for twenty polls', async () => {
    const begun = await begin();
    const back = await lab.visit(begun);
    const twenty = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 20 }, work));
    const pages = await twenty(() => lab.browse(back, { confirmation: 'yes' }));
    expect(pages.filter((page) => pageOf(page).includes('Signed in'))).toHaveLength(1);
    expect(lab.provider.calls.filter((name) => name === 'token')).toHaveLength(1);
    const polls = await twenty(() => lab.poll(stateOf(begun)));
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('is confirmed by the browser in which the provider posted its answer, and by nobody who only knows the state', async () => {
    await lab.config({ oidc_response_mode: 'form_post' });
    const begun = await begin();
    const state = stateOf(begun);
    const back = await lab.visit(begun);
    const data = Object.fromEntries(back.fields);
    const page = pageOf(await lab.call('update', `${lab.path}/oidc/callback`, { data, token: '' }));
    // Whoever began the login sent its address to somebody else.
    const fields = new URLSearchParams({ state, code: 'no_code' });
    for (const more of [{}, { browser_key: 'b_guessed' }]) {
      expect(pageOf(await lab.browse({ fields }, { ...more, confirmation: 'yes' }))).toContain('answered in another browser');
    }
    expect(refusalOf(await lab.poll(state))).toBe('400 authorization_pending');
    const query = /url=\?([^"]+)/.exec(page)![1]!.replaceAll('&amp;', '&');
    const question = pageOf(await lab.browse({ fields: new URLSearchParams(query) }));
    expect(question).toContain('Did you start this login?');
    const inputs = [...question.matchAll(/name="([^"]+)" value="([^"]+)"/g)].map(([, name, value]): [string, string] => [name!, value!]);
    expect(pageOf(await lab.browse({ fields: new URLSearchParams(inputs) }))).toContain('Signed in');
    expect((await lab.poll(state)).status).toBe(200);
  });

  test('believes no answer without its issuer where the provider promises one', async () => {
    lab.issuer.describe({ authorization_response_iss_parameter_supported: true });
    await lab.config();
    const begun = await begin();
    const back = await lab.visit(begun);
    expect(pageOf(await lab.browse(back, { iss: lab.issuer.url }))).toContain(`name="iss" value="${lab.issuer.url}"`);
    expect(pageOf(await lab.browse(back, { confirmation: 'yes', iss: lab.issuer.url }))).toContain('Signed in');
    expect(pageOf(await lab.browse(await lab.visit(await begin()), { confirmation: 'yes' }))).toContain('Another provider has answered.');
    lab.issuer.describe({ authorization_response_iss_parameter_supported: false });
  });

  test('asks nothing where the role says so', async () => {
    await lab.role('direct', { callback_mode: 'direct', allowed_redirect_uris: DIRECT, oidc_disable_confirmation: true });
    const begun = await begin();
    expect(pageOf(await lab.browse(await lab.visit(begun)))).toContain('Signed in');
    expect((await lab.poll(stateOf(begun))).status).toBe(200);
  });

  test('can be confirmed again after the provider was down', async () => {
    const begun = await begin();
    const back = await lab.visit(begun);
    lab.provider.faults.set('token', { status: 503 });
    const page = await lab.browse(back, { confirmation: 'yes' });
    expect(page.status).toBe(500);
    expect(pageOf(page)).toContain('No response from provider.');
    expect(refusalOf(await lab.poll(stateOf(begun)))).toBe('400 authorization_pending');
    lab.provider.faults.clear();
    expect(pageOf(await lab.browse(back, { confirmation: 'yes' }))).toContain('Signed in');
    expect((await lab.poll(stateOf(begun))).status).toBe(200);
  });

  test('binds the token to the address of the poll, not to that of the browser', async () => {
    await lab.role('direct', { callback_mode: 'direct', allowed_redirect_uris: DIRECT, token_bound_cidrs: '10.0.0.0/8' });
    const begun = await begin();
    expect(pageOf(await lab.browse(await lab.visit(begun), { confirmation: 'yes' }))).toContain('Signed in');
    expect(refusalOf(await lab.poll(stateOf(begun)))).toBe('403 permission denied');
    const data = { state: stateOf(begun), client_nonce: 'nonce-of-the-program' };
    const inside = await lab.call('update', `${lab.path}/oidc/poll`, { data, token: '', remoteAddress: '10.1.2.3' });
    expect(inside.status).toBe(200);
  });
});

describe('a login by device', () => {
  const begin = async (data: object = {}) => lab.begin({ role: 'device', redirect_uri: '', ...data });
  beforeEach(async () => lab.role('device', { callback_mode: 'device', allowed_redirect_uris: '' }));

  test('shows a code, and polls until the person has agreed', async () => {
    const begun = await begin();
    expect(dataOf(begun)).toEqual({
      auth_url: `${lab.issuer.url}/activate`,
      user_code: expect.stringMatching(/^\w{4}-\w{4}$/),
      state: expect.stringMatching(/^st_/),
      poll_interval: '5',
    });
    const state = stateOf(begun);
    expect(refusalOf(await lab.poll(state))).toBe('400 authorization_pending');
    expect(refusalOf(await lab.poll(state))).toBe('400 slow_down');
    lab.provider.approveDevices();
    await lab.clock.advance('30s');
    const { status, auth } = await lab.poll(state);
    expect({ status, metadata: auth?.metadata }).toEqual({ status: 200, metadata: { full_name: 'Alice', role: 'device' } });
    expect(refusalOf(await lab.poll(state))).toBe(EXPIRED);
  });

  test('names the page with the code in it where the provider has one', async () => {
    lab.provider.deviceCompleteUri = true;
    const begun = dataOf(await begin());
    expect(begun['auth_url']).toBe(`${lab.issuer.url}/activate?user_code=${begun['user_code']}`);
  });

  test('ends when the person refuses, and with a device code that has expired', async () => {
    const begun = await begin();
    lab.provider.decide(dataOf(begun)['user_code']!, false);
    expect(refusalOf(await lab.poll(stateOf(begun)))).toBe('400 authorization failed: Strongroom login failed. access_denied');
    expect(refusalOf(await lab.poll(stateOf(begun)))).toBe(EXPIRED);
  });

  test.each([
    ['a signature of another key', { key: true as const }],
    ['another audience', { claims: { aud: 'somebody-else' } }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['an age that is over', { claims: { exp: 1 } }],
  ])('refuses an ID token with %s as the other modes do', async (_what, forgery) => {
    const begun = await begin();
    lab.provider.approveDevices();
    lab.provider.forgery = forgery;
    expect(refusalOf(await lab.poll(stateOf(begun)))).toMatch(/^400 authorization failed: Token verification failed\./);
  });

  test('goes on after the provider was down', async () => {
    const begun = await begin();
    lab.provider.approveDevices();
    lab.provider.faults.set('token', { status: 500 });
    expect((await lab.poll(stateOf(begun))).status).toBe(500);
    lab.provider.faults.clear();
    expect((await lab.poll(stateOf(begun))).status).toBe(200);
  });

  test('asks the provider for no more codes than logins may begin', async () => {
    await lab.role('web');
    for (let round = 0; round < 50; round += 1) await Promise.all(Array.from({ length: 100 }, () => lab.begin()));
    const { status, headers } = await begin();
    expect({ status, headers }).toMatchObject({ status: 429, headers: { 'Retry-After': expect.any(String) } });
    expect(lab.provider.calls).not.toContain('device');
  });

  test('asks the provider once for twenty polls at once', async () => {
    const begun = await begin();
    lab.provider.approveDevices();
    const polls = await Promise.all(Array.from({ length: 20 }, () => lab.poll(stateOf(begun))));
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(polls.filter(({ status }) => status !== 200).every((answer) => /authorization_pending|Expired/.test(refusalOf(answer)))).toBe(
      true,
    );
  });
});
