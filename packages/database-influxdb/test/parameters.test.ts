import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import {
  createTestCa,
  describeWhere,
  influxdbMissing,
  type InfluxdbServer,
  startInfluxdb,
  startTlsFront,
  type TlsFront,
} from '@strongroom/lab';
import { createServer, type Server } from 'node:net';
import { InfluxdbConnection, influxdbPlugin } from '../src/index.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const quiet = () => undefined;
const host = { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, now: () => new Date() };
const login = { username: 'root', password: 'some-password' };

const verify = async (config: InfluxdbConnection) => {
  const session = await influxdbPlugin.open(config, host);
  try {
    await session.verify(AbortSignal.timeout(20_000));
  } finally {
    await session.close();
  }
};

test('username_template: names are lower-cased and 100 characters long at most', () => {
  const template = compileTemplate(influxdbPlugin.usernameTemplate, { fields: ['DisplayName', 'RoleName'] });
  const name = template.render(
    { DisplayName: 'Token'.repeat(9), RoleName: 'My-Role' },
    { now: () => new Date(1_795_250_515_000), randomBytes: (n) => Buffer.alloc(n, 1) },
  );
  expect(name).toMatch(/^v_tokentokentoken_my_role_[a-z0-9]{20}_1795250515$/);
  expect(InfluxdbConnection.properties.username_template).toBeDefined();
});

test('password, pem_bundle, pem_json: are never shown', () => {
  expect(secretFields(InfluxdbConnection)).toEqual(['password', 'pem_bundle', 'pem_json']);
});

describe('settings that cannot work are refused before anything connects', () => {
  const ca = createTestCa();
  const { cert, key } = ca.issue('client');
  test.each<[string, Partial<InfluxdbConnection>, RegExp | string]>([
    ['host: empty', { host: '' }, /^host cannot be empty$/],
    ['host: a URL', { host: 'http://db' }, 'host must be a name or an address'],
    ['username: empty', { username: '' }, /^username cannot be empty$/],
    ['username: with a colon', { username: 'a:b' }, 'username must not hold a colon'],
    ['password: empty', { password: '' }, /^password cannot be empty$/],
    ['tls_min_version', { tls_min_version: 'ssl3' }, 'tls_min_version must be one of tls10, tls11, tls12, tls13'],
    ['connect_timeout', { connect_timeout: 'soon' }, 'connect_timeout must be a duration'],
    ['pem_bundle and pem_json', { pem_bundle: cert, pem_json: '{}' }, 'cannot specify both pem_json and pem_bundle'],
    ['pem_bundle without certificate', { pem_bundle: key }, 'pem_bundle holds no PEM certificate'],
    ['pem_bundle with a key of somebody else', { pem_bundle: cert + ca.issue('other').key }, 'belongs to none of its certificates'],
    ['pem_bundle with two keys', { pem_bundle: cert + key + key }, 'more than one private key'],
    [
      'pem_bundle that is damaged',
      { pem_bundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'pem_bundle is not usable PEM',
    ],
    ['pem_json', { pem_json: 'nonsense' }, 'pem_json must be a JSON object'],
  ])('%s', async (_, change, message) => {
    const opening = influxdbPlugin.open({ host: 'db', ...login, ...change }, host);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toMatchObject({ code: 'configuration_invalid' });
  });
});

describe('connect_timeout', () => {
  let silent: Server;
  beforeAll(async () => {
    // Takes connections, but never says a word of TLS.
    silent = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
  });
  afterAll(() => void silent.close());

  test('connect_timeout: ends the attempt to connect, TLS included', async () => {
    const { port } = silent.address() as { port: number };
    const attempt = (connect_timeout: string) => verify({ host: '127.0.0.1', port, tls: true, connect_timeout, ...login });
    const longer = expect(attempt('4s'))
      .rejects.toThrow('error verifying connection')
      .then(() => 'the longer one');
    const verifying = expect(attempt('1s')).rejects.toThrow(/error verifying connection: .*[Tt]imeout/);
    expect(await Promise.race([longer, verifying.then(() => 'the shorter one')])).toBe('the shorter one');
    await longer;
    expect(InfluxdbConnection.properties.connect_timeout).toMatchObject({ default: '5s' });
  });
});

describeWhere(influxdbMissing, 'the parameters of InfluxDB connections', () => {
  const ca = createTestCa();
  const client = ca.issue('client');
  let server: InfluxdbServer;
  let front: TlsFront;
  let demanding: TlsFront;
  beforeAll(async () => {
    server = await startInfluxdb();
    const own = ca.issue('influxdb', ['DNS:localhost']);
    front = await startTlsFront(server, { ...own, maxVersion: 'TLSv1.2' });
    demanding = await startTlsFront(server, { ...own, ca: ca.certificate, requestCert: true, rejectUnauthorized: true });
  }, 30_000);
  afterAll(async () => {
    await front?.close();
    await demanding?.close();
    await server?.stop();
  });
  const root = () => ({ username: server.superuser, password: server.password });

  test('host, port, username, password: say where and who', async () => {
    await verify({ host: '127.0.0.1', port: server.port, ...root() });
    await expect(verify({ host: '127.0.0.1', port: server.port, ...login })).rejects.toThrow(
      `error verifying connection: failed to log in to http://127.0.0.1:${server.port} as root: authorization failed`,
    );
    await expect(verify({ host: '127.0.0.1', port: 1, ...login })).rejects.toThrow(
      /error verifying connection: no answer from http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
    expect(InfluxdbConnection.properties.port).toMatchObject({ default: 8086 });
  });

  test('tls: the certificate must be one that the system trusts', async () => {
    await expect(verify({ host: 'localhost', port: front.port, tls: true, ...root() })).rejects.toThrow(/certificate/);
    await expect(verify({ host: '127.0.0.1', port: server.port, tls: true, ...root() })).rejects.toThrow(
      `error verifying connection: no answer from https://127.0.0.1:${server.port}: it does not speak TLS there`,
    );
    await expect(verify({ host: 'localhost', port: front.port, ...root() })).rejects.toThrow('error verifying connection');
  });

  test('insecure_tls: any certificate will do', async () => {
    await verify({ host: '127.0.0.1', port: front.port, tls: true, insecure_tls: true, ...root() });
  });

  test('pem_bundle: authorities alone turn TLS on and must have signed the certificate, for that name', async () => {
    await verify({ host: 'localhost', port: front.port, pem_bundle: ca.certificate, ...root() });
    const other = createTestCa().certificate;
    await verify({ host: 'localhost', port: front.port, pem_bundle: other + ca.certificate, ...root() });
    await expect(verify({ host: 'localhost', port: front.port, pem_bundle: other, ...root() })).rejects.toThrow(/certificate/);
    await expect(verify({ host: '127.0.0.1', port: front.port, pem_bundle: ca.certificate, ...root() })).rejects.toThrow(/IP|altnames/);
  });

  test('pem_bundle: a client certificate with key, in any order, satisfies a server that asks for one', async () => {
    await verify({ host: 'localhost', port: demanding.port, pem_bundle: ca.certificate + client.key + client.cert, ...root() });
    await expect(verify({ host: 'localhost', port: demanding.port, pem_bundle: ca.certificate, ...root() })).rejects.toThrow(
      'error verifying connection',
    );
  });

  test('pem_json: the same, as a PKI engine issues it, with and without the envelope of its answer', async () => {
    const issued = { certificate: client.cert, private_key: client.key, issuing_ca: ca.certificate, ca_chain: [ca.certificate] };
    await verify({ host: 'localhost', port: demanding.port, pem_json: JSON.stringify(issued), ...root() });
    await verify({ host: 'localhost', port: demanding.port, pem_json: JSON.stringify({ data: issued }), ...root() });
    await verify({ host: 'localhost', port: front.port, pem_json: JSON.stringify({ issuing_ca: ca.certificate }), ...root() });
  });

  test('tls_min_version: an older version is refused', async () => {
    await verify({ host: 'localhost', port: front.port, pem_bundle: ca.certificate, tls_min_version: 'tls12', ...root() });
    const newer = verify({ host: 'localhost', port: front.port, pem_bundle: ca.certificate, tls_min_version: 'tls13', ...root() });
    await expect(newer).rejects.toThrow(/error verifying connection: .*(version|protocol)/i);
  });
});
