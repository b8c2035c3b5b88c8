import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import { describeWhere, influxdbMissing, type InfluxdbServer, startInfluxdb, startStallingProxy } from '@strongroom/lab';
import { type InfluxdbConnection, influxdbPlugin } from '../src/index.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const host = loggingHost();
const { credential, none, password, signal } = usual;

describeWhere(influxdbMissing, 'an InfluxDB session', () => {
  let server: InfluxdbServer;
  beforeAll(async () => {
    server = await startInfluxdb();
    await asRoot('CREATE DATABASE app');
  }, 30_000);
  afterAll(() => server?.stop());

  const asRoot = (statement: string) => server.query(server.superuser, server.password, statement);
  const users = async () => (await asRoot('SHOW USERS')).map(([name]) => name);
  const settings = (change: Partial<InfluxdbConnection>): InfluxdbConnection => ({
    host: '127.0.0.1',
    port: server.port,
    username: server.superuser,
    password: server.password,
    ...change,
  });
  const withSession = (work: (session: DatabaseSession) => Promise<void>, change: Partial<InfluxdbConnection> = {}) =>
    inSession(() => influxdbPlugin.open(settings(change), host), work);
  const create = (session: DatabaseSession, username: string, commands: string[] = [], undo: string[] = []) =>
    session.createUser({
      username,
      credential,
      expiresAt: new Date(),
      statements: { commands },
      rollback: { commands: undo },
      signal: signal(),
    });
  const remove = (session: DatabaseSession, username: string, commands: string[] = []) =>
    session.deleteUser({ username, statements: { commands }, signal: signal() });

  test('creation_statements: without any, the user logs in and may do nothing', async () => {
    await withSession(async (session) => {
      await create(session, 'plain');
      expect(await server.query('plain', password, 'SHOW DATABASES')).toEqual([]);
      await expect(server.query('plain', password, 'SHOW MEASUREMENTS ON app')).rejects.toThrow('plain');
    });
  });

  test('creation_statements: several in one text are run in order, values stay in their quotes', async () => {
    const name = `we"ird\\ 'name; DROP DATABASE app`;
    await withSession(async (session) => {
      await create(session, name, [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}'; GRANT READ ON "app" TO "{{username}}"`]);
      expect(await asRoot(`SHOW GRANTS FOR "we\\"ird\\\\ 'name; DROP DATABASE app"`)).toEqual([['app', 'READ']]);
      expect((await asRoot('SHOW DATABASES')).flat()).toContain('app');
      await remove(session, name);
      expect(await users()).not.toContain(name);
    });
  });

  test('creation_statements that say nothing are refused', async () => {
    await withSession((session) => expect(create(session, 'x', [' ; '])).rejects.toThrow(/^empty creation statements$/));
  });

  test('rollback_statements run when creation fails half-way, and the user is gone in any case', async () => {
    const creation = [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}'`, 'GRANT READ ON "absent" TO "{{name}}"'];
    await withSession(async (session) => {
      await expect(create(session, 'halfway', creation, ['CREATE DATABASE "trace_of_{{name}}"'])).rejects.toMatchObject({
        code: 'statement_failed',
        message: 'failed to execute query: database not found: absent',
      });
      expect(await users()).not.toContain('halfway');
      expect((await asRoot('SHOW DATABASES')).flat()).toContain('trace_of_halfway');
      await expect(create(session, 'halfway', creation, ['BOGUS'])).rejects.toThrow('database not found');
      expect(await users()).not.toContain('halfway');
      expect(host.logged.join('\n')).toContain('rollback statements failed');
    });
  });

  test('a user who existed before is unchanged by a creation that fails', async () => {
    await withSession(async (session) => {
      await asRoot(`CREATE USER "taken" WITH PASSWORD 'its own'`);
      await expect(create(session, 'taken')).rejects.toThrow('failed to execute query: user already exists');
      await server.query('taken', 'its own', 'SHOW DATABASES');
    });
  });

  test('rotation_statements replace the default, and an unknown user is an error', async () => {
    await withSession(async (session) => {
      await create(session, 'rotated');
      const next = { type: 'password', password: 'Next-1234567890abcdef' } as const;
      const commands = [`SET PASSWORD FOR "{{username}}" = '{{password}}'; GRANT WRITE ON "app" TO "{{name}}"`];
      await session.updateUser({ username: 'rotated', credential: next, statements: { commands }, signal: signal() });
      await server.query('rotated', next.password, 'SHOW DATABASES');
      expect(await asRoot('SHOW GRANTS FOR rotated')).toEqual([['app', 'WRITE']]);
      const unknown = session.updateUser({ username: 'nobody', credential, statements: none, signal: signal() });
      await expect(unknown).rejects.toThrow('failed to execute query: user not found');
    });
  });

  test('revocation_statements replace the default, and an absent user is a success with them too', async () => {
    const commands = ['REVOKE ALL PRIVILEGES FROM "{{name}}"; DROP USER "{{username}}"'];
    await withSession(async (session) => {
      await create(session, 'revoked');
      await remove(session, 'revoked', commands);
      expect(await users()).not.toContain('revoked');
      await remove(session, 'revoked', commands);
      await create(session, 'kept');
      await expect(remove(session, 'kept', ['DROP USER "somebody else"'])).rejects.toThrow('user not found');
      await remove(session, 'kept', [' ']);
      expect(await users()).not.toContain('kept');
    });
  });

  test('the managing user can change its own password, and the session says that its own is no longer good', async () => {
    await asRoot(`CREATE USER manager WITH PASSWORD 'first-password' WITH ALL PRIVILEGES`);
    const manager = { username: 'manager', password: 'first-password' };
    await withSession(async (session) => {
      const next = { type: 'password', password: 'second-password' } as const;
      await session.updateUser({ username: 'manager', credential: next, statements: none, signal: signal() });
      await expect(session.verify(signal())).rejects.toThrow('as manager: authorization failed');
      await expect(create(session, 'x')).rejects.toMatchObject({ code: 'statement_failed', serverCode: '401' });
    }, manager);
    await withSession((session) => session.verify(signal()), { ...manager, password: 'second-password' });
  });

  test('a user who is no administrator passes verification, since it logs in; the log says what is missing', async () => {
    await asRoot(`CREATE USER modest WITH PASSWORD 'its-password'`);
    await withSession((session) => session.verify(signal()), { username: 'modest', password: 'its-password' });
    expect(host.logged.join('\n')).toContain('no administrator');
  });

  test('listUsers gives the names that begin with a prefix', async () => {
    await withSession(async (session) => {
      await create(session, 'v_token_1');
      await create(session, 'v_token_2');
      expect([...(await session.listUsers!({ prefix: 'v_token_', signal: signal() }))].sort()).toEqual(['v_token_1', 'v_token_2']);
      expect(await session.listUsers!({ prefix: '', signal: signal() })).toContain('root');
    });
  });

  test('pool shows connections and limit', async () => {
    await withSession(async (session) => {
      expect(session.pool!()).toEqual({ open: 0, idle: 0, waiting: 0, limit: 8 });
      await Promise.all(Array.from({ length: 20 }, () => session.listUsers!({ prefix: '', signal: signal() })));
      expect(session.pool!()).toEqual({ open: 8, idle: 8, waiting: 0, limit: 8 });
    });
  });

  test('preview shows exactly what is sent, in the body rather than the address', async () => {
    const proxy = await startStallingProxy(server, 'never sent');
    const statements = { commands: [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}';`] };
    const preview = influxdbPlugin.preview!({ username: 'shown', credential, statements, expiresAt: new Date() });
    expect(preview).toEqual([`CREATE USER "shown" WITH PASSWORD '${password}'`]);
    expect(influxdbPlugin.preview!({ username: 'shown', credential, statements: none, expiresAt: new Date() })).toEqual(preview);
    try {
      await withSession((session) => create(session, 'shown', statements.commands), { port: proxy.port });
      const sent = proxy.received().toString();
      expect(sent).toMatch(/^POST \/query HTTP/);
      expect(sent).toContain(`\r\n\r\n${new URLSearchParams({ q: preview[0]! }).toString()}`);
    } finally {
      await proxy.close();
    }
  });
});
