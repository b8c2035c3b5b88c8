import { describe, expect, test } from '@jest/globals';
import { loggingHost } from '@strongroom/database-testkit';
import { createTestCa, startOpensearchDouble, startTlsFront } from '@strongroom/lab';
import { type OpensearchConnection, opensearchPlugin } from '../src/index.ts';

const host = loggingHost();
const login = { username: 'root', password: 'some-password' };
const ca = createTestCa();
const client = ca.issue('client');

const verify = async (config: OpensearchConnection): Promise<void> => {
  const session = await opensearchPlugin.open(config, host);
  try {
    await session.verify(AbortSignal.timeout(20_000));
  } finally {
    await session.close();
  }
};

describe('settings that cannot work are refused before anything connects', () => {
  test.each<[string, Partial<OpensearchConnection>, string]>([
    ['url: empty', { url: '' }, 'url cannot be empty'],
    ['url: no URL', { url: 'search.example' }, 'url must be like https://opensearch.example:9200'],
    ['url: another scheme', { url: 'ftp://search.example' }, 'url must be like https://opensearch.example:9200'],
    ['url: with a password', { url: 'https://a:b@search.example' }, 'url must not contain a user or a password'],
    ['url: with a query', { url: 'https://search.example?a=b' }, 'url must not contain a query'],
    ['username: empty', { username: '' }, 'username cannot be empty'],
    ['username: with a colon', { username: 'a:b' }, 'username must not contain a colon'],
    ['password: empty', { password: '' }, 'password cannot be empty'],
    ['ca_cert: a path', { ca_cert: '/etc/ca.pem' }, 'ca_cert must be PEM, not the path of a file'],
    ['client_cert without client_key', { client_cert: client.cert }, 'client_cert and client_key must be given together'],
    ['tls_min_version', { tls_min_version: 'ssl3' }, 'tls_min_version must be one of'],
    ['insecure without TLS', { url: 'http://search.example', insecure: true }, 'mean nothing with a url of http'],
  ])('%s', async (_, change, message) => {
    const opening = opensearchPlugin.open({ url: 'https://search.example:9200', ...login, ...change }, host);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toMatchObject({ code: 'configuration_invalid' });
  });
});

test('the identity is the server, whatever path a proxy puts before it', () => {
  const identity = (url: string): unknown => opensearchPlugin.identify!({ url, ...login });
  expect(identity('https://Search.example:9200/os/')).toEqual(identity('https://search.example:9200'));
  expect(identity('https://search.example')).toEqual({ system: 'opensearch://search.example:443', username: 'root' });
});

test('certificates and names are checked as the fields say', async () => {
  const server = await startOpensearchDouble();
  const own = { ...ca.issue('opensearch', ['DNS:localhost']) };
  const front = await startTlsFront(server, { ...own, ca: ca.certificate, requestCert: true, rejectUnauthorized: true });
  try {
    const good = { username: server.superuser, password: server.password, client_cert: client.cert, client_key: client.key };
    const [named, bare] = [`https://localhost:${front.port}`, `https://127.0.0.1:${front.port}`];
    await verify({ ...good, url: named, ca_cert: ca.certificate });
    await verify({ ...good, url: bare, ca_cert: ca.certificate, tls_server_name: 'localhost' });
    await verify({ ...good, url: bare, insecure: true });
    await expect(verify({ ...good, url: bare, ca_cert: ca.certificate })).rejects.toThrow(/IP|altnames/);
    await expect(verify({ ...good, url: named })).rejects.toThrow(/certificate/);
    const { client_cert: _, client_key: _key, ...without } = good;
    await expect(verify({ ...without, url: named, ca_cert: ca.certificate })).rejects.toThrow('error verifying connection');
    await expect(verify({ ...good, url: `https://127.0.0.1:${server.port}` })).rejects.toThrow('it does not speak TLS there');
  } finally {
    await front.close();
    await server.stop();
  }
});

test('a server that is no OpenSearch with the security plugin is not taken for one that refuses the password', async () => {
  const server = await startOpensearchDouble();
  const config = { username: server.superuser, password: server.password };
  await expect(verify({ ...config, url: `http://127.0.0.1:${server.port}/elsewhere` })).rejects.toMatchObject({ login: 'barred' });
  await expect(verify({ ...config, password: 'x', url: `http://127.0.0.1:${server.port}` })).rejects.toMatchObject({ login: 'credential' });
  await server.stop();
  await expect(verify({ ...config, url: `http://127.0.0.1:${server.port}` })).rejects.toMatchObject({ login: 'unreachable' });
});
