import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeCertificate, makeRevocationList, startRevocationServer, type RevocationOrder, type RevocationServer } from '@strongroom/lab';
import { mounted, REFUSALS, type MountedCert } from './mounted.ts';

const root = makeCertificate({ subject: 'CN=Root', authority: true });
const middle = makeCertificate({ subject: 'CN=Middle', issuer: root, authority: true });
const other = makeCertificate({ subject: 'CN=Other', authority: true });
const alice = makeCertificate({ subject: 'CN=alice', issuer: root });
const mallory = makeCertificate({ subject: 'CN=mallory', issuer: root });
const below = makeCertificate({ subject: 'CN=below', issuer: middle });
const START = new Date('2030-01-01T00:00:00Z');
const DAY = 86_400_000;

const days = (count: number): Date => new Date(START.getTime() + count * DAY);
const order = (revoked: RevocationOrder['revoked'], more: Partial<RevocationOrder> = {}): RevocationOrder => ({
  revoked,
  thisUpdate: days(-1),
  nextUpdate: days(2),
  ...more,
});
const uploaded = (issuer: typeof root, made: RevocationOrder): { crl: string } => ({
  crl: makeRevocationList(issuer, made).toString('base64'),
});

describe('an uploaded revocation list', () => {
  let mount: MountedCert;
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem });
  });
  afterEach(() => mount.close());

  test('keeps the certificates in it out, and only those', async () => {
    expect(await mount.login(mallory)).toMatchObject({ status: 200 });
    await mount.write('crls/Root', uploaded(root, order([mallory])));
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    expect((await mount.read('crls/root')).data).toMatchObject({
      serials: { [mallory.serial.toString()]: {} },
      issuer: 'Root',
      allow_stale: false,
    });
    await mount.delete('crls/root');
    expect(await mount.login(mallory)).toMatchObject({ status: 200 });
  });

  test('says nothing of certificates of another CA with the same serial number', async () => {
    const twin = makeCertificate({ subject: 'CN=twin', issuer: other, serial: mallory.serial });
    await mount.write('certs/other', { certificate: other.pem });
    await mount.write('crls/root', uploaded(root, order([mallory])));
    expect(await mount.login(twin)).toMatchObject({ status: 200 });
  });

  test('says nothing if a CA of the same name, but another key, has signed it', async () => {
    const namesake = makeCertificate({ subject: 'CN=Root', authority: true });
    const refused = await mount.call('update', 'auth/cert/crls/root', { data: uploaded(namesake, order([alice])) });
    expect(refused).toMatchObject({
      status: 400,
      errors: ['failed to parse CRL: the CA "Root" of this mount has not signed it, or may not sign lists'],
    });
    await mount.delete('certs/eng');
    const { warnings } = await mount.write('crls/root', uploaded(namesake, order([alice])));
    expect(warnings).toEqual([expect.stringContaining('no role has the CA "Root"')]);
    await mount.write('certs/eng', { certificate: root.pem });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
  });

  test('of a part of the certificates does not stand in for one that has ended', async () => {
    // The extension issuingDistributionPoint with [1] onlyContainsUserCerts, [2] onlyContainsCACerts, or the name of a part.
    const part = (hex: string, until: number) =>
      uploaded(
        root,
        order([], { nextUpdate: days(until), extensions: [{ oid: '2.5.29.28', critical: true, value: Buffer.from(hex, 'hex') }] }),
      );
    const first = '300ea00ca00a860868747470733a2f2f61';
    const ended = { status: 400, errors: [expect.stringContaining('a revocation list of the CA has ended')] };
    await mount.write('crls/a', part('30038201ff', 2));
    await mount.write('crls/b', part('30038101ff', 1));
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.clock.advance('36h');
    expect(await mount.login(alice)).toMatchObject(ended);
    await mount.write('crls/c', part(first, 2));
    expect(await mount.login(alice)).toMatchObject(ended);
    await mount.write('crls/d', uploaded(root, order([])));
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.delete('crls/d');
    await mount.delete('crls/b');
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.write('crls/a', part('30038201ff', -0.5));
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
  });

  test('counts for a CA on the path too', async () => {
    expect(await mount.login(below)).toMatchObject({ status: 200 });
    await mount.write('crls/root', uploaded(root, order([middle])));
    expect(await mount.login(below)).toMatchObject(REFUSALS.unfit);
  });

  test('counts for a certificate that a role trusts by itself, where its CA is known', async () => {
    await mount.write('certs/eng', { allowed_common_names: 'nobody' });
    await mount.write('certs/mallory', { certificate: mallory.pem });
    expect(await mount.login(mallory)).toMatchObject({ status: 200 });
    await mount.write('crls/root', uploaded(root, order([mallory])));
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
  });

  test('refuses all certificates of its CA after its end, until there is a newer one or allow_stale is set', async () => {
    await mount.write('certs/other', { certificate: other.pem });
    await mount.write('crls/root', uploaded(root, order([mallory])));
    await mount.advance('49h');
    const stale = {
      status: 400,
      errors: [expect.stringMatching(/additionally got errors during verification: a revocation list of the CA has ended/)],
    };
    expect(await mount.login(alice)).toMatchObject(stale);
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
    expect(await mount.login(makeCertificate({ subject: 'CN=x', issuer: other }))).toMatchObject({ status: 200 });
    await mount.write('crls/newer', uploaded(root, order([], { thisUpdate: days(2), nextUpdate: days(9) })));
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
    await mount.delete('crls/newer');
    await mount.write('crls/root', { ...uploaded(root, order([mallory])), allow_stale: true });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
  });

  test.each([
    [{}, "one of 'crl' or 'url' must be provided"],
    [{ crl: 'x', url: 'http://a' }, "one of 'crl' or 'url' must be provided"],
    [{ url: '' }, 'empty CRL url'],
    [{ url: 'ldap://a/b' }, 'url: "ldap://a/b" is not a URL with http or https'],
    [{ url: 'http://user:pw@a/b' }, 'url: "http://user:pw@a/b" is not a URL with http or https'],
    [{ crl: 'zz' }, 'failed to parse CRL: it is no list in DER'],
    [{ crl: root.pem }, 'failed to parse CRL: it is no list in DER'],
    [
      uploaded(root, order([], { extensions: [{ oid: '2.5.29.27', critical: true, value: Buffer.from([2, 1, 1]) }] })),
      'failed to parse CRL: it is a delta list; give the whole list',
    ],
    [
      uploaded(
        root,
        order([], { extensions: [{ oid: '2.5.29.28', critical: true, value: Buffer.from('3003840101'.replace('0101', '01ff'), 'hex') }] }),
      ),
      'failed to parse CRL: it is an indirect list, of several CAs; give the list of each CA',
    ],
    [
      uploaded(root, order([], { extensions: [{ oid: '1.2.3', critical: true, value: Buffer.from([5, 0]) }] })),
      'failed to parse CRL: its critical extension 1.2.3 is not known',
    ],
  ])('is refused as %j', async (data, text) => {
    expect(await mount.call('update', 'auth/cert/crls/x', { data })).toMatchObject({ status: 400, errors: [text] });
  });

  test('is not there', async () => {
    expect(await mount.call('read', 'auth/cert/crls/none')).toMatchObject({ status: 400, errors: ['no such CRL none'] });
    expect(await mount.call('delete', 'auth/cert/crls/none')).toMatchObject({ status: 400, errors: ['no such CRL none'] });
  });
});

describe('a revocation list with a URL', () => {
  let server: RevocationServer;
  let mount: MountedCert;
  beforeAll(async () => {
    server = await startRevocationServer(root);
  });
  afterAll(() => server.stop());
  const serve = (issuer: typeof root, made: RevocationOrder): void => void server.files.set('/root.crl', makeRevocationList(issuer, made));
  beforeEach(async () => {
    server.hang = false;
    serve(root, order([mallory]));
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem });
    await mount.write('crls/root', { url: `${server.url}/root.crl` });
  });
  afterEach(() => mount.close());
  const cdp = async (): Promise<Record<string, string | null>> =>
    ((await mount.read('crls/root')).data as { cdp: Record<string, string | null> }).cdp;

  test('is fetched at once', async () => {
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
    expect(await cdp()).toEqual({
      url: `${server.url}/root.crl`,
      valid_until: '2030-01-03T00:00:00.000Z',
      next_fetch: '2030-01-02T00:00:00.000Z',
      last_error: null,
    });
  });

  test('is fetched again in the background before its end', async () => {
    serve(root, order([alice, mallory], { thisUpdate: days(1), nextUpdate: days(4) }));
    await mount.advance('23h');
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.advance('2h');
    expect(await mount.login(alice)).toMatchObject(REFUSALS.unfit);
    expect(await cdp()).toMatchObject({ valid_until: '2030-01-05T00:00:00.000Z' });
  });

  test('counts until its end while it cannot be fetched, and then refuses; the next fetch that succeeds ends that', async () => {
    server.files.delete('/root.crl');
    await mount.advance('25h');
    expect(await cdp()).toMatchObject({ last_error: expect.stringContaining('answered with status 404') });
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
    await mount.advance('24h');
    expect(await mount.login(alice)).toMatchObject({ status: 400, errors: [expect.stringContaining('has ended')] });
    serve(root, order([mallory], { thisUpdate: days(2), nextUpdate: days(9) }));
    await mount.advance('2h');
    expect(await mount.login(alice)).toMatchObject({ status: 200 });
  });

  test.each([
    ['an older one', root, order([], { thisUpdate: days(-5), nextUpdate: days(5) }), 'is older than the one that is stored'],
    ['one of another CA', other, order([], { nextUpdate: days(9) }), 'is of another CA than before: Other'],
    ['one that the CA has not signed', root, order([], { nextUpdate: days(9), signedWith: other }), 'has not signed it'],
  ])('is not replaced by %s', async (_, issuer, made, text) => {
    serve(issuer, made);
    await mount.advance('25h');
    expect(await cdp()).toMatchObject({ last_error: expect.stringContaining(text), valid_until: '2030-01-03T00:00:00.000Z' });
    expect(await mount.login(mallory)).toMatchObject(REFUSALS.unfit);
  });

  test('that cannot be fetched at the write is a failure of that server', async () => {
    const data = { url: `${server.url}/none.crl` };
    const answer = await mount.call('update', 'auth/cert/crls/none', { data });
    expect(answer).toMatchObject({
      status: 500,
      errors: [expect.stringContaining(`the revocation list server ${new URL(server.url).host} answered with status 404`)],
    });
  });

  test('that is too long is not read to its end', async () => {
    server.files.set('/long.crl', Buffer.alloc(9 * 1024 * 1024, 0x30));
    const answer = await mount.call('update', 'auth/cert/crls/long', { data: { url: `${server.url}/long.crl` } });
    expect(answer).toMatchObject({ status: 500, errors: [expect.stringContaining('answered with more than 8388608 bytes')] });
  });

  test('is fetched no more after it was deleted', async () => {
    await mount.delete('crls/root');
    const before = server.asked.get('/root.crl');
    await mount.advance('50h');
    expect(server.asked.get('/root.crl')).toBe(before);
  });
});
