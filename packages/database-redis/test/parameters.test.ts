import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { secretFields, visibleConnection } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { createTestCa, type RedisServer } from '@strongroom/lab';
import { RedisConnection, redisPlugin, valkeyPlugin } from '../src/index.ts';
import { login } from './login.ts';
import { describeOnServers } from './servers.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const quiet = () => undefined;
const host = { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, now: () => new Date() };
const signal = () => AbortSignal.timeout(20_000);
const credential = { type: 'password', password: 'Abc-123456789012345' } as const;

const verify = async (config: RedisConnection) => {
  const session = await redisPlugin.open(config, host);
  try {
    await session.verify(signal());
  } finally {
    await session.close();
  }
};

test('plugin_name: both names stand for the same plugin', () => {
  expect(redisPlugin.name).toBe('redis-database-plugin');
  expect(valkeyPlugin).toMatchObject({ name: 'valkey-database-plugin', connection: RedisConnection });
});

test('username_template: names are upper-cased and 100 characters long at most', () => {
  const template = compileTemplate(redisPlugin.usernameTemplate, { fields: ['DisplayName', 'RoleName'] });
  const render = (DisplayName: string, RoleName: string) =>
    template.render({ DisplayName, RoleName }, { now: () => new Date(1_795_250_515_000), randomBytes: (n) => Buffer.alloc(n, 1) });
  expect(render('token', 'my-role')).toMatch(/^V_TOKEN_MY_ROLE_[A-Z0-9]{20}_1795250515$/);
  expect(render('d'.repeat(40), 'r'.repeat(40))).toMatch(/^V_D{15}_R{15}_[A-Z0-9]{20}_1795250515$/);
  expect(RedisConnection.properties.username_template).toBeDefined();
});

test('password, private_key: are never shown, and connection_url only masked', () => {
  expect(secretFields(RedisConnection)).toEqual(['password', 'private_key']);
  const shown = visibleConnection(RedisConnection, { connection_url: 'redis://me:hunter2@db:6379', password: 'x', private_key: 'y' });
  expect(shown).toEqual({ connection_url: 'redis://me:xxxxx@db:6379' });
});

test.each<[string, RedisConnection, RegExp | string]>([
  ['host', {}, /^host cannot be empty$/],
  ['host and connection_url', { host: 'h', connection_url: 'redis://h' }, 'cannot both be given'],
  ['connection_url of another scheme', { connection_url: 'http://h' }, 'unable to parse connection url'],
  ['connection_url with a path', { connection_url: 'redis://h/a/b' }, 'unable to parse connection url'],
  ['connection_url that is none', { connection_url: 'h:6379' }, 'unable to parse connection url'],
  ['username without password', { host: 'h', username: 'u' }, 'password cannot be empty'],
  ['ca_cert without tls', { host: 'h', ca_cert: 'x' }, 'mean nothing without tls'],
  ['insecure_tls without tls', { host: 'h', insecure_tls: true }, 'mean nothing without tls'],
  ['ca_cert that is no PEM', { host: 'h', tls: true, ca_cert: 'nonsense' }, 'ca_cert is not usable PEM'],
  ['tls_certificate alone', { host: 'h', tls: true, tls_certificate: 'x' }, 'must be given together'],
  ['tls_certificate that is no PEM', { host: 'h', tls: true, tls_certificate: 'x', private_key: 'y' }, 'not usable PEM'],
  ['persistence_mode', { host: 'h', persistence_mode: 'disk' }, 'persistence_mode must be ACLFILE or REWRITE'],
])('%s: what cannot work is refused before anything connects', async (_, config, message) => {
  const opening = redisPlugin.open(config, host);
  await expect(opening).rejects.toThrow(message);
  await expect(opening).rejects.toMatchObject({ code: 'configuration_invalid' });
});

test('tls: a server that answers nothing is given up', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  try {
    await expect(verify({ host: '127.0.0.1', port, password: 'x', tls: true })).rejects.toThrow(
      `error verifying connection: failed to connect to 127.0.0.1:${port} as default: no answer to TLS within 10 s`,
    );
  } finally {
    silent.close();
  }
});

describeOnServers('the parameters of connections', (start) => {
  const ca = createTestCa();
  let server: RedisServer;
  beforeAll(async () => {
    server = await start({ tls: { ca: ca.certificate, ...ca.issue('redis', ['DNS:localhost']) } });
    await login(server.port, 'default', server.password, ['ACL', 'SETUSER', 'm@n:/?#', 'on', '>p@ss:/?#%41', '+@all', '~*']);
  }, 30_000);
  afterAll(() => server?.stop());

  test('host, port, username, password: say where and who', async () => {
    await verify({ host: '127.0.0.1', port: server.port, username: 'm@n:/?#', password: 'p@ss:/?#%41' });
    await verify({ host: '127.0.0.1', port: server.port, password: server.password });
    await expect(verify({ host: '127.0.0.1', port: server.port, username: 'm@n:/?#', password: 'wrong' })).rejects.toThrow(
      `error verifying connection: failed to connect to 127.0.0.1:${server.port} as m@n:/?#: WRONGPASS`,
    );
    await expect(verify({ host: '127.0.0.1', port: 1, password: 'x' })).rejects.toThrow(/error verifying connection: .*ECONNREFUSED/);
    expect(RedisConnection.properties.port).toMatchObject({ default: 6379 });
  });

  test('connection_url: user name and password are escaped, unless disable_escaping says that they are already', async () => {
    const connection_url = `redis://{{username}}:{{password}}@127.0.0.1:${server.port}`;
    await verify({ connection_url, username: 'm@n:/?#', password: 'p@ss:/?#%41' });
    const escaped = { username: encodeURIComponent('m@n:/?#'), password: encodeURIComponent('p@ss:/?#%41') };
    await verify({ connection_url, ...escaped, disable_escaping: true });
    await expect(verify({ connection_url, ...escaped })).rejects.toThrow('WRONGPASS');
    await verify({ connection_url: `valkey://default:${server.password}@127.0.0.1:${server.port}/0` });
  });

  test('tls, ca_cert: the certificate must be of that authority and for that name', async () => {
    const tls = { host: 'localhost', port: server.tlsPort, password: server.password, tls: true };
    await verify({ ...tls, ca_cert: ca.certificate });
    await verify({
      connection_url: `rediss://:{{password}}@localhost:${server.tlsPort}`,
      password: server.password,
      ca_cert: ca.certificate,
    });
    await expect(verify({ ...tls, ca_cert: createTestCa().certificate })).rejects.toThrow(/error verifying connection: .*certificate/);
    await expect(verify(tls)).rejects.toThrow(/error verifying connection: .*certificate/);
    await expect(verify({ ...tls, host: '127.0.0.1', ca_cert: ca.certificate })).rejects.toThrow(
      /error verifying connection: .*(IP|altnames)/,
    );
    await expect(verify({ ...tls, tls: false })).rejects.toThrow('error verifying connection');
  });

  test('insecure_tls: any certificate will do', async () => {
    await verify({ host: '127.0.0.1', port: server.tlsPort, password: server.password, tls: true, insecure_tls: true });
  });

  test('tls_certificate, private_key: satisfy a server that asks for a certificate', async () => {
    const demanding = await start({ tls: { ca: ca.certificate, ...ca.issue('redis', ['DNS:localhost']), demandCertificate: true } });
    try {
      const { cert, key } = ca.issue('client');
      const tls = { host: 'localhost', port: demanding.tlsPort, password: demanding.password, tls: true, ca_cert: ca.certificate };
      await verify({ ...tls, tls_certificate: cert, private_key: key });
      await expect(verify(tls)).rejects.toThrow('error verifying connection');
    } finally {
      await demanding.stop();
    }
  });

  test.each(['aclfile', 'rewrite'] as const)(
    'persistence_mode %s: users, new passwords and deletions survive a restart of the server',
    async (mode) => {
      const kept = await start({ users: mode === 'aclfile' ? 'aclfile' : 'configuration' });
      try {
        const config = { host: '127.0.0.1', port: kept.port, password: kept.password, persistence_mode: mode.toUpperCase() };
        const session = await redisPlugin.open(config, host);
        const request = { credential, statements: { commands: [] }, rollback: { commands: [] }, expiresAt: new Date() };
        for (const username of ['STAYS', 'GOES']) await session.createUser({ ...request, username, signal: signal() });
        const changed = { type: 'password', password: 'Changed-1234567890' } as const;
        await session.updateUser({ username: 'STAYS', credential: changed, statements: { commands: [] }, signal: signal() });
        await session.deleteUser({ username: 'GOES', statements: { commands: [] }, signal: signal() });
        await session.close();
        await kept.restart();
        await login(kept.port, 'STAYS', changed.password);
        await expect(login(kept.port, 'GOES', credential.password)).rejects.toThrow('WRONGPASS');
      } finally {
        await kept.stop();
      }
    },
  );

  test.each(['ACLFILE', 'REWRITE'])(
    'persistence_mode %s: where the server cannot keep users, creation fails and leaves none',
    async (persistence_mode) => {
      const session = await redisPlugin.open({ host: '127.0.0.1', port: server.port, password: server.password, persistence_mode }, host);
      const creating = session.createUser({
        username: 'UNSAVED',
        credential,
        statements: { commands: [] },
        rollback: { commands: [] },
        expiresAt: new Date(),
        signal: signal(),
      });
      await expect(creating).rejects.toThrow(/^failed to execute query: ERR /);
      expect(await session.listUsers!({ prefix: 'UNSAVED', signal: signal() })).toEqual([]);
      await session.close();
    },
  );
});
