import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestCa, startTlsFront, type TlsFront } from '@strongroom/lab';
import { nameComplaint, tagsComplaint } from '@strongroom/sync-sdk';
import { openTestSession } from '@strongroom/sync-testkit';
import { vaultDestination, type VaultConnection } from '../src/index.ts';
import { connectionTo } from './vault-outside.ts';

const never = new AbortController().signal;
const good = connectionTo('https://vault.example.com:8200');
const limits = vaultDestination.limits(good);

describe('what is wrong without asking the server', () => {
  test.each<[Partial<VaultConnection>, string]>([
    [{ address: 'vault.example.com:8200' }, 'address must be the URL of a server'],
    [{ address: 'ftp://vault.example.com' }, 'address must be the URL of a server'],
    [{ address: 'https://vault.example.com/?a=b' }, 'address must be the URL of a server'],
    [{ address: 'https://me:pw@vault.example.com' }, 'address must not hold a user or a password'],
    [{ address: 'https://vault.example.com/v1/' }, 'address must not end in /v1'],
    [{ token: undefined }, 'token or role_id is required'],
    [{ role_id: 'r' }, 'token excludes role_id and secret_id'],
    [{ secret_id: 's' }, 'token excludes role_id and secret_id'],
    [{ token: 'a b' }, 'token has a space'],
    [{ namespace: 'a b' }, 'namespace has a space'],
    [{ mount: '/' }, 'mount must be a path'],
    [{ mount: 'a//b' }, 'mount must be a path'],
    [{ path_prefix: 'a/../b' }, 'path_prefix must be a path'],
    [{ approle_path: '' }, 'approle_path must be a path'],
    [{ tls_ca: 'nonsense' }, 'tls_ca: not a certificate'],
    [{ tls_server_name: 'a b' }, 'tls_server_name must be the name of a host'],
    [{ address: 'http://vault.example.com', tls_server_name: 'a' }, 'need an address that begins with https'],
  ])('%j is reported', (change, complaint) => {
    expect(vaultDestination.check!({ ...good, ...change }).join()).toContain(complaint);
  });

  test.each<Partial<VaultConnection>>([
    { address: 'https://proxy.example.com/vault/' },
    { token: undefined, role_id: 'r' },
    { mount: '/team/kv/', path_prefix: '/a/b/' },
  ])('%j is fine', (change) => {
    expect(vaultDestination.check!({ ...good, ...change })).toEqual([]);
  });

  test.each([
    ['team/app.v1', true],
    ['über/1', true],
    ['/a', false],
    ['a/', false],
    ['a//b', false],
    ['a/../b', false],
    ['./a', false],
    ['a/.', false],
    ['a b', false],
    ['x'.repeat(512), true],
    ['x'.repeat(513), false],
  ])('whether %s is a name', (name, fits) => {
    expect(nameComplaint(limits.name, name) === undefined).toBe(fits);
  });

  test.each([
    ['user name', true],
    ['', false],
    ['a\nb', false],
    ['x'.repeat(513), false],
  ])('whether %j is a key', (key, fits) => {
    expect(nameComplaint(limits.keys!, key) === undefined).toBe(fits);
  });

  test.each([
    [{ team: 'red' }, true],
    [{ team: '' }, false],
    [{ team: 'x'.repeat(513) }, false],
    [{ ['x'.repeat(129)]: 'x' }, false],
    [{ hashicorp: 'x' }, false],
    [{ 'strongroom-owner': 'x' }, false],
    [Object.fromEntries(Array.from({ length: 62 }, (_, at) => [`k${at}`, 'x'])), false],
  ])('whether %j are tags', (tags, fits) => {
    expect(tagsComplaint(limits.tags!, tags) === undefined).toBe(fits);
  });
});

describe('a server that answers otherwise', () => {
  let server: Server;
  let answer: { status: number; headers?: Record<string, string>; body: string };
  let first: string | undefined;

  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      const given = first !== undefined && url.includes('sys/health') ? { status: 200, body: first } : answer;
      response.writeHead(given.status, { 'content-type': 'text/html', ...('headers' in given ? given.headers : {}) }).end(given.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => void (first = undefined));
  afterAll(() => void server.close());

  const failure = async (): Promise<unknown> => {
    const session = await openTestSession(vaultDestination, connectionTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    try {
      return await session.read({ name: 'app', signal: never }).then(
        () => 'it succeeds',
        (error: Error & { code?: string }) => ({ code: error.code, message: error.message }),
      );
    } finally {
      await session.close();
    }
  };

  test.each([
    ['sealed', 503, '{"sealed":true,"initialized":true}', 'the server at address is sealed'],
    ['new', 501, '{"sealed":true,"initialized":false}', 'the server at address is not initialized'],
    ['broken', 502, '<html>', 'the server at address answers 502: no reason'],
  ])('one that is %s is an outside failure', async (_title, status, body, message) => {
    answer = { status, body };
    expect(await failure()).toEqual({ code: 'external_service', message });
  });

  test('a redirect is not followed: the token is for the address alone', async () => {
    first = '{"sealed":false}';
    answer = { status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: '' };
    expect(await failure()).toEqual({ code: 'client_side', message: expect.stringContaining('redirects to another one') });
  });

  test('a 404 of a proxy is no absence', async () => {
    first = '{"sealed":false}';
    answer = { status: 404, body: '<html>not found</html>' };
    expect(await failure()).toEqual({ code: 'client_side', message: expect.stringContaining('404') });
  });
});

describe('a server with TLS', () => {
  const ca = createTestCa();
  let server: Server;
  let front: TlsFront;

  beforeAll(async () => {
    server = createServer((_request, response) => void response.writeHead(503).end('{"sealed":true}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { cert, key } = ca.issue('vault.internal', ['DNS:vault.internal']);
    front = await startTlsFront({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, { cert, key });
  });
  afterAll(async () => {
    await front.close();
    server.close();
  });

  test.each<[string, () => Partial<VaultConnection>, RegExp]>([
    ['whose CA is not known is not reached', () => ({}), /cannot be reached: .*(self-signed|unable to verify|unable to get)/],
    ['whose certificate has another name is not reached', () => ({ tls_ca: ca.certificate }), /cannot be reached: .*altnames/],
    [
      'is reached by its CA and the name of its certificate',
      () => ({ tls_ca: ca.certificate, tls_server_name: 'vault.internal' }),
      /^the server at address is sealed$/,
    ],
  ])('%s', async (_title, more, message) => {
    const session = await openTestSession(vaultDestination, connectionTo(`https://127.0.0.1:${front.port}`, more()));
    try {
      await expect(session.read({ name: 'app', signal: never })).rejects.toThrow(message);
    } finally {
      await session.close();
    }
  });
});
