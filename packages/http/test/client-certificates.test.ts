import https from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeCertificate, type MadeCertificate } from '@strongroom/lab';
import type { TLSSocket } from 'node:tls';
import type { CoreRequest, ForwardedCertificateOptions } from '../src/index.ts';
import { createHttpServer } from '../src/index.ts';
import { answer, fakeCore } from './fake-core.ts';
import { startServer, type RunningServer } from './running-server.ts';

const root = makeCertificate({ subject: 'CN=Root', authority: true });
const middle = makeCertificate({ subject: 'CN=Middle', issuer: root, authority: true });
const alice = makeCertificate({ subject: 'CN=alice', issuer: middle });
const bob = makeCertificate({ subject: 'CN=bob', issuer: root });
const header = 'X-Client-Cert';

const shown = (request: CoreRequest | undefined): string[] =>
  (request?.certificates ?? []).map((der) => Buffer.from(der).toString('base64'));
const base64 = (...made: MadeCertificate[]): string[] => made.map(({ der }) => der.toString('base64'));

describe('a certificate shown in the handshake', () => {
  /** Read while the connection is open. */
  const seen: string[][] = [];
  const core = fakeCore((request) => {
    seen.push(shown(request));
    return answer();
  });
  const own = makeCertificate({ subject: 'CN=localhost', names: ['DNS:localhost', 'IP:127.0.0.1'], issuer: root, extendedKeyUsage: [] });
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(core, {
      tls: { cert: own.pem, key: own.key, requestCert: true, rejectUnauthorized: false },
      trustedProxies: ['127.0.0.1'],
    });
  });
  afterAll(() => server.stop());

  const ask = (
    client: { cert?: string; key?: string; session?: Buffer; maxVersion?: 'TLSv1.2' | 'TLSv1.3' } = {},
    headers = {},
  ): Promise<{ session: Buffer | undefined; reused: boolean }> =>
    new Promise((resolve, reject) => {
      let session: Buffer | undefined;
      const options = { host: '127.0.0.1', port: server.port, path: '/v1/a', ca: root.pem, agent: false as const, headers, ...client };
      https
        .get(options, (response) => {
          const socket = response.socket as TLSSocket;
          response.resume().on('end', () => resolve({ session: session ?? socket.getSession(), reused: socket.isSessionReused() }));
        })
        .on('socket', (socket) => socket.on('session', (fresh: Buffer) => (session = fresh)))
        .on('error', reject);
    });

  test('reaches the core with what was sent of the path above it', async () => {
    await ask({ cert: alice.chain, key: alice.key });
    expect(seen.at(-1)).toEqual(base64(alice, middle));
  });

  test('reaches the core whoever signed it, and none is needed', async () => {
    const stranger = makeCertificate({ subject: 'CN=stranger' });
    await ask({ cert: stranger.pem, key: stranger.key });
    expect(seen.at(-1)).toEqual(base64(stranger));
    await ask();
    expect(seen.at(-1)).toEqual([]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'keeps its path on the next connection of %s, because no session is resumed',
    async (maxVersion) => {
      const { session } = await ask({ cert: alice.chain, key: alice.key, maxVersion });
      const second = await ask({ cert: alice.chain, key: alice.key, maxVersion, ...(session ? { session } : {}) });
      expect(second.reused).toBe(false);
      expect(seen.at(-1)).toEqual(base64(alice, middle));
    },
  );

  test('is not that of somebody whose request a trusted proxy forwards', async () => {
    await ask({ cert: bob.pem, key: bob.key }, { 'X-Forwarded-For': '203.0.113.9' });
    expect(seen.at(-1)).toEqual([]);
  });
});

describe('a certificate that a proxy passes on', () => {
  const core = fakeCore();
  const servers: RunningServer[] = [];
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });
  const start = async (
    options: Partial<ForwardedCertificateOptions> | undefined,
    trustedProxies = ['127.0.0.1'],
  ): Promise<RunningServer> => {
    const server = await startServer(core, { trustedProxies, ...(options ? { forwardedCertificate: { header, ...options } } : {}) });
    servers.push(server);
    return server;
  };
  const proxied = { 'X-Forwarded-For': '203.0.113.9' };
  const urlPem = encodeURIComponent(alice.pem);

  test.each<[ForwardedCertificateOptions['decoders'] & {}, string]>([
    [[], alice.der.toString('base64')],
    [['BASE64'], alice.der.toString('base64')],
    [['RFC9440'], `:${alice.der.toString('base64')}:`],
    [['URL', 'PEM'], urlPem],
    [['URL', 'PEM', 'BASE64'], urlPem],
    [['URL', 'DER'], urlPem],
    [['BASE64', 'PEM'], Buffer.from(alice.pem).toString('base64')],
  ])('is decoded by %j', async (decoders, value) => {
    const server = await start({ decoders });
    expect(await server.send('GET', '/v1/a', { headers: { ...proxied, [header]: value } })).toMatchObject({ status: 200 });
    expect(shown(core.calls.at(-1))).toEqual(base64(alice));
  });

  test('does not count from a foreign address, and without X-Forwarded-For: the header is removed', async () => {
    const value = alice.der.toString('base64');
    const foreign = await start({}, ['10.0.0.0/8']);
    await foreign.send('GET', '/v1/a', { headers: { ...proxied, [header]: value } });
    expect(core.calls.at(-1)).toMatchObject({ certificates: [] });
    expect(core.calls.at(-1)!.headers).not.toHaveProperty(header.toLowerCase());
    const own = await start({});
    await own.send('GET', '/v1/a', { headers: { [header]: value } });
    expect(core.calls.at(-1)).toMatchObject({ certificates: [] });
    expect(core.calls.at(-1)!.headers).not.toHaveProperty(header.toLowerCase());
  });

  test('is refused where it is not one certificate', async () => {
    const server = await start({});
    const refused = async (value: string | string[]): Promise<unknown> => {
      const lines = [value].flat().map((one) => `${header}: ${one}`);
      const text = await server.raw(
        ['GET /v1/a HTTP/1.1', 'Host: h', 'Connection: close', 'X-Forwarded-For: 203.0.113.9', ...lines, '', ''].join('\r\n'),
      );
      return [text.slice(9, 12), JSON.parse(text.split('\r\n\r\n')[1]!)];
    };
    const valid = alice.der.toString('base64');
    const chain = 'too many values for client certificate header; check RFC 9440 and do not send chain';
    expect(await refused('zz!')).toEqual(['400', { errors: ['error decoding client certificate header as base64'] }]);
    expect(await refused('enp6')).toEqual(['400', { errors: ['error decoding client certificate header as x509.Certificate'] }]);
    expect(await refused(Buffer.concat([alice.der, bob.der]).toString('base64'))).toEqual([
      '400',
      { errors: ['error decoding client certificate header as x509.Certificate'] },
    ]);
    expect(await refused([valid, valid])).toEqual(['400', { errors: [chain] }]);
    expect(await refused(`${valid}, ${valid}`)).toEqual(['400', { errors: [chain] }]);
    const url = await start({ decoders: ['URL'] });
    expect(await url.send('GET', '/v1/a', { headers: { ...proxied, [header]: '%zz' } })).toMatchObject({
      status: 400,
      text: '{"errors":["error decoding client certificate header as URL"]}\n',
    });
  });

  test('never comes from a header that was not configured', async () => {
    const server = await start(undefined);
    const headers = { ...proxied, 'Client-Cert': `:${alice.der.toString('base64')}:`, 'Client-Cert-Chain': 'x' };
    await server.send('GET', '/v1/a', { headers });
    expect(core.calls.at(-1)).toMatchObject({ certificates: [] });
    expect(Object.keys(core.calls.at(-1)!.headers!).filter((name) => name.startsWith('client-cert'))).toEqual([]);
  });

  test('needs the addresses of the proxies', () => {
    expect(() => createHttpServer(core, { forwardedCertificate: { header } })).toThrow('forwardedCertificate needs trustedProxies');
    expect(() => createHttpServer(core, { trustedProxies: ['::1'], forwardedCertificate: { header: 'a b' } })).toThrow(
      'no name of a header',
    );
  });
});
