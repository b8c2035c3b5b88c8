import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import { createTestCa, startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { anyone, mounted, type MountedJwt } from './mounted.ts';

const alice = { sub: 'alice', aud: 'strongroom' };

describe('the keys of an issuer', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;

  beforeEach(async () => {
    issuer = await startOidcIssuer();
    mount = await mounted(issuer);
    await mount.write('role/ci', anyone);
  });
  afterEach(async () => {
    await mount.close();
    await issuer.stop();
  });

  test.each([
    ['PEM', () => ({ jwt_validation_pubkeys: issuer.publicKey() })],
    ['a key set', () => ({ jwks_url: issuer.jwksUrl })],
    ['key sets', () => ({ jwks_pairs: [{ jwks_url: issuer.jwksUrl }] })],
    ['discovery', () => ({ oidc_discovery_url: issuer.url })],
  ])('come from %s', async (_source, config) => {
    await mount.write('config', config());
    const { status, auth } = await mount.login('ci', issuer.sign(alice));
    expect({ status, policies: auth?.policies, metadata: auth?.metadata }).toEqual({
      status: 200,
      policies: ['default'],
      metadata: { role: 'ci' },
    });
    expect((await mount.login('ci', issuer.sign(alice, { forged: true }))).status).toBe(400);
  });

  test('come over TLS from a server that the given CA vouches for, and from no other', async () => {
    const ca = createTestCa();
    const secure = await startOidcIssuer({ tls: ca.issue('issuer', ['IP:127.0.0.1']) });
    secure.clock = issuer.clock;
    try {
      await mount.write('config', { jwks_url: secure.jwksUrl, jwks_ca_pem: ca.certificate });
      expect((await mount.login('ci', secure.sign(alice))).status).toBe(200);
      await expect(mount.write('config', { jwks_url: secure.jwksUrl })).rejects.toThrow('error checking jwks URL');
      await expect(mount.write('config', { jwks_url: secure.jwksUrl, jwks_ca_pem: createTestCa().certificate })).rejects.toThrow(
        'error checking jwks URL',
      );
    } finally {
      await secure.stop();
    }
  });

  test('are fetched again when a token names one that is unknown: a rotated key works at once', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    issuer.rotate();
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
  });

  test('count no more once a look at the issuer has not found them', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    const old = issuer.sign(alice);
    expect((await mount.login('ci', old)).status).toBe(200);
    const [withdrawn] = issuer.kids();
    issuer.rotate();
    issuer.withdraw(withdrawn!);
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    expect((await mount.login('ci', old)).errors).toEqual([
      'error validating token: error verifying token signature: failed to verify id token signature',
    ]);
  });

  test('are looked at again in the background, so that a withdrawn key ends without any login', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    const old = issuer.sign({ ...alice, exp: issuer.clock() + 86_400 });
    expect((await mount.login('ci', old)).status).toBe(200);
    issuer.withdraw(issuer.kids()[0]!);
    const before = issuer.requests.get('/jwks')!;
    await mount.advance(601);
    await until(() => issuer.requests.get('/jwks')! > before);
    await until(async () => (await mount.login('ci', old)).status === 400);
  });

  test('are looked at as often as Cache-Control says, but at least once an hour and at most once a minute', async () => {
    for (const [cacheControl, early, late] of [
      ['max-age=1200', 1_190, 20],
      ['max-age=1', 55, 10],
      ['no-store', 55, 10],
      ['public, max-age=86400', 3_590, 20],
    ] as const) {
      const own = await startOidcIssuer({ cacheControl });
      try {
        await mount.write('config', { jwks_url: own.jwksUrl });
        await mount.login('ci', own.sign(alice));
        const before = own.requests.get('/jwks')!;
        await mount.advance(early);
        expect(own.requests.get('/jwks')).toBe(before);
        await mount.advance(late);
        await until(() => own.requests.get('/jwks') === before + 1);
      } finally {
        await own.stop();
      }
    }
  });

  test('serve logins for a day while the issuer is down, and no longer', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    issuer.outage({ refusing: true });
    await mount.advance(86_300);
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    await mount.advance(200);
    const { status, errors } = await mount.login('ci', issuer.sign(alice));
    expect(status).toBeGreaterThanOrEqual(500);
    expect(errors!.join()).toContain(issuer.url);
  });

  test('serve logins at once while the issuer hangs', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    issuer.outage({ hanging: true });
    await mount.clock.advance(700);
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
  });

  test('survive a restart while the issuer is down', async () => {
    const store = sharedMemory();
    const first = await mounted(issuer, { storage: store.open() });
    await first.write('config', { oidc_discovery_url: issuer.url });
    await first.write('role/ci', anyone);
    expect((await first.login('ci', issuer.sign(alice))).status).toBe(200);
    await first.close();
    issuer.outage({ hanging: true });
    const second = await mounted(issuer, { storage: store.open() });
    expect((await second.login('ci', issuer.sign(alice))).status).toBe(200);
    await second.close();
  });

  test('are not asked for more than five times at once, however many tokens name unknown ones', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    const before = issuer.requests.get('/jwks')!;
    for (let round = 0; round < 20; round += 1) await mount.login('ci', issuer.sign(alice, { header: { kid: `none-${round}` } }));
    expect(issuer.requests.get('/jwks')! - before).toBeLessThanOrEqual(5);
    issuer.rotate();
    await mount.clock.advance(5);
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
  });

  test('that never came are a failure of the issuer, which is named; the next login tries again', async () => {
    issuer.outage({ refusing: true });
    const stored = await mount.call('update', `${mount.path}/config`, { data: { jwks_url: issuer.jwksUrl, skip_jwks_validation: true } });
    expect({ status: stored.status, warnings: stored.warnings }).toEqual({
      status: 200,
      warnings: [`error checking jwks URL: ${issuer.url} answers 503`],
    });
    expect((await mount.read('config')).data).toMatchObject({ status: 'invalid' });
    const { status, errors } = await mount.login('ci', issuer.sign(alice));
    expect({ status, errors }).toEqual({
      status: 500,
      errors: [`1 error occurred:\n\t* the keys of the issuer are not known: ${issuer.url} answers 503\n\n`],
    });
    issuer.outage();
    await mount.clock.advance(30);
    await until(async () => (await mount.login('ci', issuer.sign(alice))).status === 200);
    expect((await mount.read('config')).data).toMatchObject({ status: 'valid' });
  });

  test('of one key set serve logins while another set is down', async () => {
    const other = await startOidcIssuer();
    other.clock = issuer.clock;
    try {
      await mount.write('config', { jwks_pairs: [{ jwks_url: other.jwksUrl }, { jwks_url: issuer.jwksUrl, jwks_ca_pem: '' }] });
      expect((await mount.login('ci', other.sign(alice))).status).toBe(200);
      expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
      other.outage({ hanging: true });
      await mount.clock.advance(700);
      expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
      expect((await mount.login('ci', other.sign(alice))).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  test('that a document of another issuer leads to are refused', async () => {
    issuer.outage({ renamed: 'https://elsewhere.example' });
    await expect(mount.write('config', { oidc_discovery_url: issuer.url })).rejects.toThrow('is of the issuer "https://elsewhere.example"');
  });

  test.each([
    ['no JSON', 'hello', 'does not answer with JSON'],
    ['a list', '[]', 'does not answer with an object'],
    ['an object without keys', '{}', 'it has no list of keys'],
    ['two megabytes', ' '.repeat(2_000_000), 'more than 1048576 bytes'],
  ])('cannot be %s', async (_what, garbage, text) => {
    issuer.outage({ garbage });
    await expect(mount.write('config', { jwks_url: issuer.jwksUrl })).rejects.toThrow(text);
  });

  test('with a discovery document, the issuer of tokens is the one it is of, unless the configuration names another', async () => {
    await mount.write('config', { oidc_discovery_url: issuer.url });
    expect((await mount.login('ci', issuer.sign({ ...alice, iss: 'https://elsewhere.example' }))).errors).toEqual([
      'error validating token: invalid issuer (iss) claim',
    ]);
    await mount.write('config', { oidc_discovery_url: issuer.url, bound_issuer: 'https://elsewhere.example' });
    expect((await mount.login('ci', issuer.sign({ ...alice, iss: 'https://elsewhere.example' }))).status).toBe(200);
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(400);
  });

  test('of other kinds than the algorithm of the token prove nothing', async () => {
    await mount.write('config', { jwt_validation_pubkeys: [issuer.publicKey('ES256'), issuer.publicKey('EdDSA')] });
    expect((await mount.login('ci', issuer.sign(alice, { alg: 'ES256' }))).status).toBe(200);
    expect((await mount.login('ci', issuer.sign(alice, { alg: 'EdDSA' }))).status).toBe(200);
    expect((await mount.login('ci', issuer.sign(alice, { alg: 'RS256' }))).status).toBe(400);
    expect((await mount.login('ci', issuer.sign(alice, { alg: 'ES256', header: { alg: 'ES384' } }))).status).toBe(400);
  });

  test.each(['RS384', 'RS512', 'PS256', 'ES384'] as const)('may sign with %s', async (alg) => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.login('ci', issuer.sign(alice, { alg }))).status).toBe(200);
  });

  test('that a token brings along, or points to, are ignored', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    const foreign = await startOidcIssuer();
    try {
      const header = { jku: foreign.jwksUrl, x5u: foreign.jwksUrl, kid: issuer.kids()[0] };
      expect((await mount.login('ci', foreign.sign({ ...alice, iss: issuer.url }, { header }))).status).toBe(400);
      expect(foreign.requests.size).toBe(0);
    } finally {
      await foreign.stop();
    }
  });
});

/** Lets requests in the background that a moved clock set off go on until they are done. */
async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (await done()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('nothing happened');
}
