import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeCertificate, startRevocationServer, type OcspAnswer, type RevocationServer } from '@strongroom/lab';
import { mounted, REFUSALS, type MountedCert } from './mounted.ts';

const SIGNING = '1.3.6.1.5.5.7.3.9';
const root = makeCertificate({ subject: 'CN=Root', authority: true });
const other = makeCertificate({ subject: 'CN=Other', authority: true });
const responder = makeCertificate({ subject: 'CN=Responder', issuer: root, extendedKeyUsage: [SIGNING] });
const START = Date.parse('2030-01-01T00:00:00Z');
const HOUR = 3_600_000;
const hours = (count: number): Date => new Date(START + count * HOUR);
const answer = (status: OcspAnswer['status'], more: Partial<OcspAnswer> = {}): OcspAnswer => ({
  status,
  thisUpdate: hours(-1),
  nextUpdate: hours(1),
  ...more,
});

describe('a role that asks OCSP responders', () => {
  let server: RevocationServer;
  let second: RevocationServer;
  let mount: MountedCert;
  let alice: ReturnType<typeof makeCertificate>;

  beforeAll(async () => {
    server = await startRevocationServer(root);
    second = await startRevocationServer(root);
    alice = makeCertificate({ subject: 'CN=alice', issuer: root, ocsp: [`${server.url}/ocsp`] });
  });
  afterAll(async () => {
    await server?.stop();
    await second?.stop();
  });
  beforeEach(async () => {
    for (const one of [server, second]) {
      one.answer = () => answer('good');
      one.hang = false;
      one.asked.clear();
    }
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem, ocsp_enabled: true });
  });
  afterEach(() => mount.close());
  const unsure = (text: string): object => ({
    status: 400,
    errors: [
      expect.stringMatching(new RegExp(`^no chain matching all constraints .*; additionally got errors during verification: .*${text}`)),
    ],
  });

  test('lets a good certificate in, and keeps a revoked one out whatever ocsp_fail_open says', async () => {
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    server.answer = () => answer('revoked');
    await mount.write('config', { ocsp_cache_size: 10 });
    await mount.write('certs/eng', { ocsp_fail_open: true });
    expect(await mount.login(alice)).toMatchObject(REFUSALS.unfit);
  });

  test('remembers an answer until its end, and forgets it when the configuration is written', async () => {
    await mount.login(alice);
    server.answer = () => answer('revoked', { thisUpdate: hours(1), nextUpdate: hours(2) });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    expect(server.asked.get('/ocsp')).toBe(1);
    await mount.advance('61m');
    expect(await mount.login(alice)).toMatchObject(REFUSALS.unfit);
    server.answer = () => answer('good', { thisUpdate: hours(1), nextUpdate: hours(2) });
    expect(await mount.login(alice)).toMatchObject(REFUSALS.unfit);
    await mount.write('config', { ocsp_cache_size: 10 });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
  });

  test('takes an answer of a responder that the CA has certified', async () => {
    server.answer = () => answer('good', { responder });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
  });

  test.each<[string, () => ReturnType<RevocationServer['answer']>, string]>([
    ['with a wrong signature', () => answer('good', { forged: true }), 'its signature is wrong'],
    ['of another CA', () => answer('good', { responder: other }), 'no authorized responder has made it'],
    ['of a certificate of the CA that may not answer', () => answer('good', { responder: alice }), 'no authorized responder has made it'],
    [
      'of an expired responder',
      () =>
        answer('good', { responder: makeCertificate({ subject: 'CN=R', issuer: root, extendedKeyUsage: [SIGNING], notAfter: hours(-9) }) }),
      'no authorized responder has made it',
    ],
    ['to another request', () => answer('good', { nonce: 'another' }), 'it answers another request'],
    ['about another certificate', () => answer('good', { about: 7n }), 'it is about another certificate'],
    ['that is too old', () => answer('good', { thisUpdate: hours(-9), nextUpdate: hours(-8) }), 'it is too old'],
    ['from the future', () => answer('good', { thisUpdate: hours(1) }), 'it is from the future'],
    ['that refuses', () => 'tryLater', 'the responder refuses: tryLater'],
    ['with a status of HTTP', () => 500, 'answered with status 500'],
    ['that does not know the certificate', () => answer('unknown'), 'does not know the certificate'],
  ])('refuses after an answer %s; ocsp_fail_open allows it', async (_, made, text) => {
    server.answer = made;
    expect(await mount.login(alice)).toMatchObject(unsure(text));
    await mount.write('certs/eng', { ocsp_fail_open: true });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
  });

  test('takes an answer without a nonce, and one without an end for an hour', async () => {
    server.answer = () => ({ status: 'good', thisUpdate: hours(-0.5), nonce: 'left out' });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.advance('1h');
    expect(await mount.login(alice)).toMatchObject(unsure('it is too old'));
  });

  test('believes responders of ocsp_ca_certificates, for this role only', async () => {
    server.answer = () => answer('good', { responder: makeCertificate({ subject: 'CN=R', issuer: other, extendedKeyUsage: [SIGNING] }) });
    await mount.write('certs/eng', { ocsp_ca_certificates: other.pem });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.write('certs/also', { certificate: root.pem, ocsp_enabled: true });
    expect(await mount.login(alice, { name: 'also' })).toMatchObject(unsure('no authorized responder has made it'));
  });

  test('asks the servers of the role in place of those in the certificate, the next one if the first cannot tell', async () => {
    await mount.write('certs/eng', { ocsp_servers_override: `http://127.0.0.1:1,${second.url}/ocsp` });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    expect([server.asked.get('/ocsp'), second.asked.get('/ocsp')]).toEqual([undefined, 1]);
  });

  test('with ocsp_query_all_servers wants all to agree', async () => {
    await mount.write('certs/eng', { ocsp_servers_override: [`${server.url}/ocsp`, `${second.url}/ocsp`], ocsp_query_all_servers: true });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    second.answer = () => answer('revoked');
    await mount.write('config', { ocsp_cache_size: 10 });
    expect(await mount.login(alice)).toMatchObject(REFUSALS.unfit);
    second.answer = () => 503;
    await mount.write('config', { ocsp_cache_size: 10 });
    expect(await mount.login(alice)).toMatchObject(unsure('answered with status 503'));
  });

  test('keeps its settings to itself: another role does not fail open for it', async () => {
    server.answer = () => 500;
    await mount.write('certs/open', { certificate: root.pem, ocsp_enabled: true, ocsp_fail_open: true });
    expect(await mount.login(alice, { name: 'eng' })).toMatchObject(unsure('answered with status 500'));
    expect((await mount.login(alice)).auth?.metadata?.['cert_name']).toBe('open');
  });

  test('refuses a certificate without a responder', async () => {
    expect(await mount.login(makeCertificate({ subject: 'CN=x', issuer: root }))).toMatchObject(unsure('names no OCSP responder'));
  });

  test('waits 5 seconds for a server that hangs, and asks it no more for a while', async () => {
    server.hang = true;
    for (let times = 1; times <= 5; times += 1) {
      const login = mount.login(alice);
      while ((server.asked.get('/ocsp') ?? 0) < times) await new Promise((resolve) => setImmediate(resolve));
      await mount.clock.advance('5s');
      expect(await login).toMatchObject(unsure('did not answer within 5 s'));
    }
    expect(await mount.login(alice)).toMatchObject({ status: 400 });
    expect(server.asked.get('/ocsp')).toBe(5);
    await mount.write('certs/plain', { certificate: root.pem });
    expect(await mount.login(alice, { name: 'plain' })).toMatchObject({ status: 200 });
  });
});
