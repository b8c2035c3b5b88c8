import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import { createTestCa, describeWhere, type FerretdbServer, findFerretdb, startFerretdb } from '@strongroom/lab';
import { type MongodbConnection, mongodbPlugin } from '../src/index.ts';
import { login } from './login.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const host = loggingHost();
const { credential, none, password, signal } = usual;
const found = await findFerretdb();

describeWhere('missing' in found ? found.missing : undefined, 'a MongoDB session (FerretDB)', () => {
  const ca = createTestCa();
  let server: FerretdbServer;
  beforeAll(async () => {
    server = await startFerretdb({ tls: ca.issue('ferretdb', ['DNS:localhost']) });
    await withSession((session) => create(session, 'm@n:/?#', { password: 'p@ss:/?#%41' }));
  }, 60_000);
  afterAll(() => server?.stop());

  const settings = (change: Partial<MongodbConnection> = {}): MongodbConnection => ({
    connection_url: `mongodb://{{username}}:{{password}}@127.0.0.1:${server.port}/`,
    username: server.superuser,
    password: server.password,
    ...change,
  });
  const withSession = (work: (session: DatabaseSession) => Promise<unknown>, change?: Partial<MongodbConnection>) =>
    inSession(() => mongodbPlugin.open(settings(change), host), work);
  const verify = (change?: Partial<MongodbConnection>) => withSession((session) => session.verify(signal()), change);
  const create = (session: DatabaseSession, username: string, { db = 'admin', password: own = password } = {}) =>
    session.createUser({
      username,
      credential: { type: 'password', password: own },
      expiresAt: new Date(),
      statements: { commands: [JSON.stringify({ db, roles: [] })] },
      rollback: none,
      signal: signal(),
    });

  test('username, password, connection_url: values are escaped, unless disable_escaping says that they are already', async () => {
    await verify({ username: 'm@n:/?#', password: 'p@ss:/?#%41' });
    const escaped = { username: encodeURIComponent('m@n:/?#'), password: encodeURIComponent('p@ss:/?#%41') };
    await verify({ ...escaped, disable_escaping: true });
    await expect(verify(escaped)).rejects.toThrow(/^error verifying connection: .*Authentication failed/);
    const bare = { connection_url: `mongodb://127.0.0.1:${server.port}/` };
    await verify(bare);
    await expect(verify({ ...bare, password: 'wrong' })).rejects.toThrow('Authentication failed');
  });

  test('connection_url: a server that is not there is named', async () => {
    const connection_url = 'mongodb://{{username}}:{{password}}@127.0.0.1:1/?serverSelectionTimeoutMS=300';
    await expect(verify({ connection_url })).rejects.toThrow('error verifying connection: connect ECONNREFUSED 127.0.0.1:1');
    await withSession((session) => expect(create(session, 'x')).rejects.toMatchObject({ code: 'connection_lost' }), { connection_url });
  });

  test('tls_ca: the certificate must be of that authority and for that name', async () => {
    const connection_url = `mongodb://{{username}}:{{password}}@localhost:${server.tlsPort}/?serverSelectionTimeoutMS=1000`;
    await verify({ connection_url, tls_ca: ca.certificate });
    await expect(verify({ connection_url, tls_ca: createTestCa().certificate })).rejects.toThrow(
      /error verifying connection: .*certificate/,
    );
    const byAddress = connection_url.replace('localhost', '127.0.0.1');
    await expect(verify({ connection_url: byAddress, tls_ca: ca.certificate })).rejects.toThrow(
      /error verifying connection: .*(IP|altnames)/,
    );
  });

  test('tls_certificate_key: satisfies a server that asks for a certificate, beside a login by password', async () => {
    const demanding = await startFerretdb({ tls: { ...ca.issue('ferretdb', ['DNS:localhost']), ca: ca.certificate } });
    try {
      const connection_url = `mongodb://{{username}}:{{password}}@localhost:${demanding.tlsPort}/?serverSelectionTimeoutMS=1000`;
      const { cert, key } = ca.issue('client');
      await verify({ connection_url, tls_ca: ca.certificate, tls_certificate_key: key + cert });
      await expect(verify({ connection_url, tls_ca: ca.certificate })).rejects.toThrow('error verifying connection');
    } finally {
      await demanding.stop();
    }
  });

  test('a user of any name is made under exactly this name, and not twice', async () => {
    const name = `{"$ne": 1} ' " \\ ; {{name}}`;
    await withSession(async (session) => {
      await create(session, name);
      await login(server.port, name, password);
      await expect(create(session, name, { password: 'another' })).rejects.toMatchObject({ code: 'statement_failed', serverCode: '51003' });
      await login(server.port, name, password);
      await session.deleteUser({ username: name, statements: none, signal: signal() });
      await expect(login(server.port, name, password)).rejects.toThrow('Authentication failed');
    });
  });

  test('a user of another database is found by revocation_statements that do not name it', async () => {
    await withSession(async (session) => {
      for (const name of ['of-app', 'stays']) await create(session, name, { db: 'app' });
      await session.deleteUser({ username: 'of-app', statements: none, signal: signal() });
      expect(await session.listUsers!({ prefix: 'of-app', signal: signal() })).toEqual([]);
      expect(await session.listUsers!({ prefix: 'stays', signal: signal() })).toEqual(['stays']);
      await session.deleteUser({ username: 'stays', statements: { commands: ['{ "db": "other" }'] }, signal: signal() });
      expect(await session.listUsers!({ prefix: 'stays', signal: signal() })).toEqual(['stays']);
      await session.deleteUser({ username: 'stays', statements: { commands: ['{ "db": "app" }'] }, signal: signal() });
      expect(await session.listUsers!({ prefix: 'stays', signal: signal() })).toEqual([]);
    });
  });

  test('an unknown user is an error of updateUser', async () => {
    await withSession((session) =>
      expect(session.updateUser({ username: 'nobody', credential, statements: none, signal: signal() })).rejects.toThrow(
        'failed to execute query: (UserNotFound) User nobody@admin not found',
      ),
    );
  });

  test('the managing user can change its own password, also where it is of another database than admin', async () => {
    const next = { type: 'password', password: 'second-password' } as const;
    await withSession(async (session) => {
      await create(session, 'manager', { password: 'first-password' });
      await create(session, 'manager', { db: 'app', password: 'first-password' });
    });
    const url = (rest: string) => ({
      username: 'manager',
      connection_url: `mongodb://{{username}}:{{password}}@127.0.0.1:${server.port}/${rest}`,
    });
    const change = (session: DatabaseSession) =>
      session.updateUser({ username: 'manager', credential: next, statements: none, signal: signal() });
    await withSession(change, { ...url('app'), password: 'first-password' });
    await verify({ ...url('app'), password: next.password });
    await verify({ ...url(''), password: 'first-password' });
    await withSession(change, { ...url('app?authSource=admin'), password: 'first-password' });
    await verify({ ...url(''), password: next.password });
    await expect(verify({ ...url('app'), password: 'first-password' })).rejects.toThrow('Authentication failed');
  });

  test('pool shows connections, and the limit that connection_url sets', async () => {
    await withSession(async (session) => {
      expect(session.pool!()).toEqual({ open: 0, idle: 0, waiting: 0, limit: 10 });
      await session.verify(signal());
      expect(session.pool!()).toEqual({ open: 1, idle: 1, waiting: 0, limit: 10 });
    });
    const connection_url = `mongodb://{{username}}:{{password}}@127.0.0.1:${server.port}/?maxPoolSize=2`;
    await withSession(
      async (session) => {
        await Promise.all(Array.from({ length: 8 }, () => session.listUsers!({ prefix: '', signal: signal() })));
        expect(session.pool!()).toEqual({ open: 2, idle: 2, waiting: 0, limit: 2 });
      },
      { connection_url },
    );
  });
});
