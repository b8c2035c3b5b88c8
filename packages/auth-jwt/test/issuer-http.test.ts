import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock, type Circuit } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, sharedMemory } from '@strongroom/engine-testkit';
import { startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { jwtAuth } from '../src/index.ts';
import { endpointOf, readDiscovery } from '../src/keys/discovery.ts';
import { IssuerHttp, systemTrust } from '../src/keys/issuer-http.ts';
import { anyone, mounted } from './mounted.ts';

const alice = { sub: 'alice', aud: 'strongroom' };

describe('calls to an issuer', () => {
  let issuer: OidcIssuer;

  beforeEach(async () => {
    issuer = await startOidcIssuer();
  });
  afterEach(async () => issuer.stop());

  test('follow five redirects, and no more', async () => {
    const mount = await mounted(issuer);
    let hops = 0;
    issuer.route('/moved', (_req, res, url) => {
      hops += 1;
      const left = Number(url.searchParams.get('left'));
      res.writeHead(302, { location: left === 0 ? '/jwks' : `/moved?left=${left - 1}` }).end();
    });
    await mount.write('config', { jwks_url: `${issuer.url}/moved?left=4` });
    expect(hops).toBeGreaterThanOrEqual(5);
    await expect(mount.write('config', { jwks_url: `${issuer.url}/moved?left=5` })).rejects.toThrow('redirects more than 5 times');
    issuer.route('/file', (_req, res) => void res.writeHead(302, { location: 'file:///etc/passwd' }).end());
    await expect(mount.write('config', { jwks_url: `${issuer.url}/file` })).rejects.toThrow('redirects to file:');
    await mount.close();
  });

  test('send what is for one server to no other after a redirect', async () => {
    const other = await startOidcIssuer();
    const seen: (string | undefined)[] = [];
    for (const [at, path, location] of [
      [issuer, '/userinfo', '/moved'],
      [issuer, '/moved', `${other.url}/stolen`],
    ] as const) {
      at.route(path, (req, res) => {
        seen.push(req.headers.authorization);
        res.writeHead(302, { location }).end();
      });
    }
    other.route('/stolen', (req, res) => {
      seen.push(req.headers.authorization);
      res.end('{}');
    });
    const http = new IssuerHttp({ clock: systemClock, circuit: () => ({ call: async (_signal, work) => work() }) as Circuit });
    const { signal } = new AbortController();
    const answer = await http.call(`${issuer.url}/userinfo`, { trust: systemTrust, signal, headers: { authorization: 'Bearer of-alice' } });
    expect(answer.status).toBe(200);
    expect(seen).toEqual(['Bearer of-alice', 'Bearer of-alice', undefined]);
    await http.close();
    await other.stop();
  });

  test.each(['nonsense', 'file:///etc/passwd', 'https://user:pass@idp.example/jwks'])(
    'are not made to the jwks_uri %s',
    async (address) => {
      const mount = await mounted(issuer);
      issuer.describe({ jwks_uri: address });
      const { status, errors } = await mount.call('update', `${mount.path}/config`, { data: { oidc_discovery_url: issuer.url } });
      expect(status).toBe(400);
      expect(errors!.join()).toContain('has a jwks_uri that is no address with http or https');
      await mount.close();
    },
  );

  test('go from an issuer with TLS only to addresses with TLS', () => {
    const issued = (endpoints: object) => readDiscovery({ issuer: 'https://idp.example', ...endpoints }, 'https://idp.example');
    expect(() => issued({ jwks_uri: 'http://idp.example/jwks' })).toThrow('no address with https');
    const document = issued({ jwks_uri: 'https://idp.example/jwks', token_endpoint: 'http://idp.example/token' });
    expect(endpointOf(document, 'token_endpoint')).toBeUndefined();
  });

  test('end at a deadline of ten seconds, and the login says who did not answer', async () => {
    const mount = await mounted(issuer);
    await mount.write('role/ci', anyone);
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    issuer.outage({ hanging: true });
    const before = issuer.requests.get('/jwks')!;
    const login = mount.login('ci', issuer.sign(alice, { header: { kid: 'new' } }));
    while (issuer.requests.get('/jwks') === before) await new Promise((resolve) => setImmediate(resolve));
    await mount.clock.advance(11);
    const { status, errors } = await login;
    expect(status).toBe(500);
    expect(errors!.join()).toContain(`${issuer.url} did not answer within 10 s`);
    await mount.close();
  });

  test('are not made while the circuit breaker of the issuer is open, except by an operator’s test, which closes it', async () => {
    const mount = await mounted(issuer);
    await mount.write('role/ci', anyone);
    issuer.outage({ refusing: true });
    await mount.write('config', { jwks_url: issuer.jwksUrl, skip_jwks_validation: true });
    for (let round = 0; round < 10; round += 1) await mount.login('ci', issuer.sign(alice));
    const { errors } = await mount.login('ci', issuer.sign(alice));
    expect(errors!.join()).toContain('circuit breaker is open');
    const before = issuer.requests.get('/jwks');
    await mount.login('ci', issuer.sign(alice));
    expect(issuer.requests.get('/jwks')).toBe(before);
    issuer.outage();
    expect((await mount.write('config/test', { jwt: issuer.sign(alice), role: 'ci' })).data).toMatchObject({ ok: true });
    await mount.clock.advance(6);
    expect((await mount.login('ci', issuer.sign(alice))).status).toBe(200);
    await mount.close();
  });

  test('that hang harm no other mount', async () => {
    const other = await startOidcIssuer();
    const mount = await mounted(issuer);
    other.clock = issuer.clock;
    await mount.call('update', 'sys/auth/second', { data: { type: 'jwt' } });
    await mount.call('update', 'auth/second/config', { data: { jwks_url: other.jwksUrl } });
    await mount.call('update', 'auth/second/role/ci', { data: anyone });
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    await mount.write('role/ci', anyone);
    issuer.outage({ hanging: true });
    const stuck = Array.from({ length: 50 }, async (_, n) => mount.login('ci', issuer.sign(alice, { header: { kid: `new-${n}` } })));
    const { status } = await mount.call('update', 'auth/second/login', { data: { role: 'ci', jwt: other.sign(alice) }, token: '' });
    expect(status).toBe(200);
    await mount.clock.advance(11);
    expect(new Set((await Promise.all(stuck)).map((answer) => answer.status))).toEqual(new Set([500]));
    await mount.close();
    await other.stop();
  });

  test('of two servers of one store use what was configured last, on either', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    issuer.clock = () => Math.floor(clock.millis() / 1_000);
    const [first, second] = [
      await mountForTest(jwtAuth, { storage: store.open(), clock }),
      await mountForTest(jwtAuth, { storage: store.open(), clock }),
    ];
    const login = async (mount: typeof first, jwt: string): Promise<number> =>
      (await mount.call('update', 'auth/jwt/login', { data: { role: 'ci', jwt }, token: '' })).status;
    await first.write('role/ci', anyone);
    await first.write('config', { jwt_validation_pubkeys: issuer.publicKey('ES256') });
    expect(await login(second, issuer.sign(alice, { alg: 'ES256' }))).toBe(200);
    await first.write('config', { jwks_url: issuer.jwksUrl });
    await clock.advance(1);
    expect(await login(second, issuer.sign(alice))).toBe(200);
    await first.close();
    await second.close();
  });
});
