import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import { type RedisServer, startStallingProxy } from '@strongroom/lab';
import { type RedisConnection, redisPlugin } from '../src/index.ts';
import { login } from './login.ts';
import { describeOnServers } from './servers.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const host = loggingHost();
const { credential, none, password, signal } = usual;

describeOnServers('a session', (start) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await start();
  }, 30_000);
  afterAll(() => server?.stop());

  const asRoot = (...command: string[]) => login(server.port, 'default', server.password, command);
  const settings = (change: Partial<RedisConnection> = {}): RedisConnection => ({
    host: '127.0.0.1',
    port: server.port,
    username: 'default',
    password: server.password,
    ...change,
  });
  const withSession = (work: (session: DatabaseSession) => Promise<void>, change?: Partial<RedisConnection>) =>
    inSession(() => redisPlugin.open(settings(change), host), work);
  const create = (session: DatabaseSession, username: string, ...commands: string[]) =>
    session.createUser({ username, credential, expiresAt: new Date(), statements: { commands }, rollback: none, signal: signal() });
  const rulesOf = async (username: string) =>
    ((await asRoot('ACL', 'LIST')) as string[]).find((line) => line.startsWith(`user ${username} `));

  test('creation_statements: without any, the user may read every key and nothing else', async () => {
    await withSession(async (session) => {
      await create(session, 'PLAIN');
      expect(await rulesOf('PLAIN')).toMatch(/^user PLAIN on (?:sanitize-payload )?#[0-9a-f]{64} ~\* resetchannels -@all \+@read$/);
      await expect(login(server.port, 'PLAIN', password, ['SET', 'a', 'b'])).rejects.toThrow('NOPERM');
    });
  });

  test('creation_statements: a JSON array of rules, also several of them, also in base64', async () => {
    const encoded = Buffer.from('["&{{name}}-events"]').toString('base64');
    await withSession((session) => create(session, 'SEVERAL', '["~{{name}}:*", "+get"]', ' ', '["(%R~{{username}}* +set)"]', encoded));
    expect(await rulesOf('SEVERAL')).toContain(
      ' ~SEVERAL:* resetchannels &SEVERAL-events -@all +get (%R~SEVERAL* resetchannels -@all +set)',
    );
  });

  test('creation_statements: what is not a JSON array of rules is refused before anything is sent', async () => {
    await withSession(async (session) => {
      for (const statement of ['+@read', '{"rules": []}', '["~*", 5]', 'ACL SETUSER {{name}}', 'W10gYW5k']) {
        await expect(create(session, 'REFUSED', statement)).rejects.toMatchObject({ code: 'statement_invalid' });
      }
      await expect(create(session, 'REFUSED', '["+{{name}}"]')).rejects.toThrow('{{name}} cannot be used in an ACL rule');
      await expect(create(session, 'REFUSED', '["~{{password}}"]')).rejects.toThrow('{{password}} cannot be used in an ACL rule');
      expect(await rulesOf('REFUSED')).toBeUndefined();
    });
  });

  test('a name is one argument and no pattern: it cannot widen what the user may touch', async () => {
    await withSession(async (session) => {
      await expect(create(session, 'APP*', '["~{{name}}:*", "+@all"]')).rejects.toThrow(
        'the value of {{name}} holds characters that are not safe',
      );
      await expect(create(session, 'X ON nopass ~*', '["~*"]')).rejects.toThrow("Usernames can't contain spaces");
      await create(session, `'"\\;>x`, '["~*"]');
      expect(await asRoot('ACL', 'GETUSER', `'"\\;>x`)).not.toBeNull();
      await create(session, '*', '["~*", "+get"]');
      await session.deleteUser({ username: '*', statements: none, signal: signal() });
      expect(await asRoot('ACL', 'GETUSER', `'"\\;>x`)).not.toBeNull();
    });
  });

  test('what the server refuses is said in its words, and leaves no user', async () => {
    await withSession(async (session) => {
      await expect(create(session, 'HALF', '["~*", "+@nonsense"]')).rejects.toMatchObject({
        code: 'statement_failed',
        serverCode: 'ERR',
        message: "failed to execute query: ERR Error in ACL SETUSER modifier '+@nonsense': Unknown command or category name in ACL",
      });
      expect(await rulesOf('HALF')).toBeUndefined();
    });
  });

  test('a user who exists is neither taken over by a creation nor made by a change', async () => {
    await withSession(async (session) => {
      await create(session, 'TAKEN', '["+get"]');
      const before = await rulesOf('TAKEN');
      await expect(create(session, 'TAKEN', '["~*", "+@all"]')).rejects.toThrow('user "TAKEN" already exists');
      expect(await rulesOf('TAKEN')).toBe(before);
      const change = session.updateUser({ username: 'NOBODY', credential, statements: none, signal: signal() });
      await expect(change).rejects.toThrow('failed to execute query: user "NOBODY" does not exist');
      expect(await rulesOf('NOBODY')).toBeUndefined();
    });
  });

  test('rotation_statements are rules that are applied with the new password', async () => {
    await withSession(async (session) => {
      await create(session, 'ROTATED', '["~*", "+get"]');
      const next = { type: 'password', password: 'Next-1234567890abcdef' } as const;
      await session.updateUser({ username: 'ROTATED', credential: next, statements: { commands: ['["+set"]'] }, signal: signal() });
      expect(await rulesOf('ROTATED')).toMatch(
        /^user ROTATED on (?:sanitize-payload )?#[0-9a-f]{64} ~\* resetchannels -@all (?:\+set \+get|\+get \+set)$/,
      );
      await login(server.port, 'ROTATED', next.password, ['SET', 'a', 'b']);
      await expect(login(server.port, 'ROTATED', password)).rejects.toThrow('WRONGPASS');
    });
  });

  test('the managing user can change its own password', async () => {
    await asRoot('ACL', 'SETUSER', 'manager', 'on', '>first-password', '+@all', '~*');
    const next = { type: 'password', password: 'second-password' } as const;
    await withSession(
      async (session) => {
        await session.updateUser({ username: 'manager', credential: next, statements: none, signal: signal() });
        await expect(session.verify(signal())).rejects.toThrow('WRONGPASS');
      },
      { username: 'manager', password: 'first-password' },
    );
    await withSession((session) => session.verify(signal()), { username: 'manager', password: 'second-password' });
  });

  test('the managing user needs no more permissions than the documentation says', async () => {
    const server = await start({ users: 'aclfile' });
    const allowed = ['+acl|setuser', '+acl|getuser', '+acl|deluser', '+acl|users', '+acl|save'];
    await login(server.port, 'default', server.password, ['ACL', 'SETUSER', 'least', 'on', '>least-password', ...allowed]);
    const change = { port: server.port, username: 'least', password: 'least-password', persistence_mode: 'ACLFILE' };
    try {
      await withSession(async (session) => {
        await session.verify(signal());
        await create(session, 'MADE', '["~*", "+@all"]');
        await session.updateUser({ username: 'MADE', credential, statements: none, signal: signal() });
        expect(await session.listUsers!({ prefix: 'MADE', signal: signal() })).toEqual(['MADE']);
        await session.deleteUser({ username: 'MADE', statements: none, signal: signal() });
      }, change);
    } finally {
      await server.stop();
    }
  });

  test('a user without any permission passes verification, since it logs in', async () => {
    await asRoot('ACL', 'SETUSER', 'powerless', 'on', '>its-password');
    await withSession((session) => session.verify(signal()), { username: 'powerless', password: 'its-password' });
  });

  test('revocation ends the connections of the user and says that revocation_statements are not used', async () => {
    await withSession(async (session) => {
      await create(session, 'CONNECTED', '["~*", "+@all"]');
      const other = await redisPlugin.open(settings({ username: 'CONNECTED', password }), host);
      await other.listUsers!({ prefix: '', signal: signal() });
      await session.deleteUser({ username: 'CONNECTED', statements: { commands: ['["-@all"]'] }, signal: signal() });
      await expect(other.listUsers!({ prefix: '', signal: signal() })).rejects.toMatchObject({ code: 'connection_lost' });
      await other.close();
      expect(host.logged.join('\n')).toContain('revocation statements are not used');
    });
  });

  test('listUsers gives the names that begin with a prefix, in their case', async () => {
    await withSession(async (session) => {
      await create(session, 'V_TOKEN_1');
      await create(session, 'V_TOKEN_2');
      await create(session, 'v_token_3');
      expect([...(await session.listUsers!({ prefix: 'V_TOKEN_', signal: signal() }))].sort()).toEqual(['V_TOKEN_1', 'V_TOKEN_2']);
      expect(await session.listUsers!({ prefix: '', signal: signal() })).toEqual(expect.arrayContaining(['default', 'v_token_3']));
    });
  });

  test('pool shows the one connection that there is', async () => {
    await withSession(async (session) => {
      expect(session.pool!()).toEqual({ open: 0, idle: 0, waiting: 0, limit: 1 });
      await session.listUsers!({ prefix: '', signal: signal() });
      expect(session.pool!()).toEqual({ open: 1, idle: 1, waiting: 0, limit: 1 });
      const listing = session.listUsers!({ prefix: '', signal: signal() });
      await Promise.resolve();
      expect(session.pool!().open).toBe(1);
      await listing;
    });
  });

  test('a command that is given up does not hold up those of others', async () => {
    const proxy = await startStallingProxy(server, 'STUCK');
    try {
      await withSession(
        async (session) => {
          const controller = new AbortController();
          const stuck = session.deleteUser({ username: 'STUCK', statements: none, signal: controller.signal });
          const behind = session.deleteUser({ username: 'BEHIND', statements: none, signal: signal() });
          while (!proxy.received().includes('STUCK')) await new Promise((resolve) => setImmediate(resolve));
          controller.abort(new Error('deadline passed'));
          await expect(stuck).rejects.toThrow('deadline passed');
          await session.listUsers!({ prefix: '', signal: signal() });
          await expect(behind).rejects.toMatchObject({ code: 'connection_lost' });
        },
        { port: proxy.port },
      );
    } finally {
      await proxy.close();
    }
  });

  test('preview shows the command that creation sends, without a connection', async () => {
    const preview = redisPlugin.preview!({
      username: 'V_X',
      credential,
      statements: { commands: ['["~{{name}}:*", "(~a +get)"]'] },
      expiresAt: new Date(),
    });
    expect(preview).toEqual([`ACL SETUSER V_X ON >${password} ~V_X:* "(~a +get)"`]);
    const proxy = await startStallingProxy(server, 'never sent');
    try {
      await withSession((session) => create(session, 'V_X', '["~{{name}}:*", "(~a +get)"]'), { port: proxy.port });
      expect(proxy.received().toString()).toContain(
        ['ACL', 'SETUSER', 'V_X', 'ON', `>${password}`, '~V_X:*', '(~a +get)'].map((word) => `$${word.length}\r\n${word}\r\n`).join(''),
      );
    } finally {
      await proxy.close();
    }
  });
});
