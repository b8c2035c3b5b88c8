import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { abortCreation, doAllAsManager, loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import type { PostgresqlConnection } from '../src/index.ts';
import { postgresqlPlugin } from '../src/index.ts';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

const host = loggingHost();
const { credential, expiresAt, none, password, signal } = usual;
const CREATE = `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;

const available = (await findPostgres()) !== undefined;
if (!available) console.warn('SKIPPED: no PostgreSQL server is installed here');

(available ? describe : describe.skip)('a PostgreSQL session', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query('CREATE SCHEMA app');
    await server.query('CREATE TABLE app.orders (id int, note text)');
    await server.query('CREATE TABLE public.things (doc jsonb)');
    await server.query('CREATE SEQUENCE public.numbers');
    await server.query(`CREATE FUNCTION app.twice(x int) RETURNS int LANGUAGE sql AS 'SELECT 2 * x'`);
  }, 60_000);
  afterAll(() => server?.stop());

  const settings = (change: Partial<PostgresqlConnection> = {}): PostgresqlConnection => ({
    connection_url: `postgresql://{{username}}:{{password}}@${server.host}:${server.port}/postgres?sslmode=disable`,
    username: server.superuser,
    password: server.password,
    ...change,
  });
  const open = (change?: Partial<PostgresqlConnection>) => postgresqlPlugin.open(settings(change), host);
  const withSession = <T>(work: (session: DatabaseSession) => Promise<T>, change?: Partial<PostgresqlConnection>) =>
    inSession(() => open(change), work);
  const create = (session: DatabaseSession, username: string, ...commands: string[]) =>
    session.createUser({
      username,
      credential,
      expiresAt,
      statements: { commands: [CREATE, ...commands] },
      rollback: none,
      signal: signal(),
    });
  const exists = async (username: string) => (await server.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [username])).length > 0;
  const expiry = async (username: string) =>
    (
      await server.query<{ at: string }>(
        `SELECT to_char(rolvaliduntil AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS at FROM pg_roles WHERE rolname = $1`,
        [username],
      )
    )[0]?.at;

  test('sets and moves VALID UNTIL in UTC', async () => {
    await withSession(async (session) => {
      await create(session, 'expiring');
      expect(await expiry('expiring')).toBe('2031-02-03 04:05:06');
      await session.renewUser!({ username: 'expiring', expiresAt: new Date('2032-01-01T00:00:00Z'), statements: none, signal: signal() });
      expect(await expiry('expiring')).toBe('2032-01-01 00:00:00');
    });
  });

  test('creation_statements: there is no default', async () => {
    await withSession(async (session) => {
      const empty = { username: 'x', credential, expiresAt, rollback: none, signal: signal() };
      await expect(session.createUser({ ...empty, statements: none })).rejects.toThrow(/^empty creation statements$/);
      await expect(session.createUser({ ...empty, statements: { commands: [' ; '] } })).rejects.toThrow(/^empty creation statements$/);
    });
  });

  test('says what the server said, with its SQLSTATE', async () => {
    await withSession(async (session) => {
      const failing = session.createUser({
        username: 'x',
        credential,
        expiresAt,
        statements: { commands: ['BOGUS'] },
        rollback: none,
        signal: signal(),
      });
      await expect(failing).rejects.toMatchObject({
        code: 'statement_failed',
        serverCode: '42601',
        message: 'failed to execute query: ERROR: syntax error at or near "BOGUS" (SQLSTATE 42601)',
      });
      await expect(session.updateUser({ username: 'nouser', credential, statements: none, signal: signal() })).rejects.toThrow(
        'failed to execute query: ERROR: role "nouser" does not exist (SQLSTATE 42704)',
      );
    });
  });

  test('says who could not connect where, and why', async () => {
    await withSession(
      async (session) => {
        await expect(session.verify(signal())).rejects.toThrow(
          `error verifying connection: failed to connect to \`user=postgres database=postgres\`: 127.0.0.1:${server.port}: FATAL: password authentication failed for user "postgres" (SQLSTATE 28P01)`,
        );
        await expect(create(session, 'x')).rejects.toMatchObject({ code: 'connection_lost' });
      },
      { password: 'wrong' },
    );
    await withSession((session) => expect(session.verify(signal())).rejects.toThrow(/127\.0\.0\.1:1: .*ECONNREFUSED/), {
      connection_url: 'postgresql://{{username}}:{{password}}@127.0.0.1:1/postgres',
    });
  });

  test('connection_url, password_authentication, max_connection_lifetime, tls_ca: what cannot work is refused before anything connects', async () => {
    await expect(open({ connection_url: '' })).rejects.toThrow(/^connection_url cannot be empty$/);
    await expect(open({ password_authentication: 'zz' })).rejects.toThrow(/^'zz' is not a valid password authentication type$/);
    await expect(open({ max_connection_lifetime: 'soon' })).rejects.toThrow('max_connection_lifetime');
    await expect(open({ connection_url: 'postgresql://h/?sslmode=zz' })).rejects.toThrow('sslmode');
    await expect(open({ connection_url: 'postgresql://h/?sslrootcert=/etc/passwd' })).rejects.toThrow('sslrootcert');
    await expect(open({ tls_ca: 'nonsense' })).rejects.toThrow('tls_ca');
  });

  test('statements keep their question marks', async () => {
    await withSession((session) => create(session, 'question', `SELECT '{"a":1}'::jsonb ? 'a', '?' || $$?$$`));
    expect(await exists('question')).toBe(true);
  });

  test('a name of more than 63 characters is deleted as it was created: cut off', async () => {
    await withSession(async (session) => {
      const long = 'l'.repeat(70);
      await create(session, long);
      expect(await exists(long.slice(0, 63))).toBe(true);
      await session.deleteUser({ username: long, statements: none, signal: signal() });
      expect(await exists(long.slice(0, 63))).toBe(false);
    });
  });

  test('default revocation takes back privileges of every kind, in every schema', async () => {
    await withSession(async (session) => {
      await create(
        session,
        'granted "odd"',
        'GRANT CONNECT ON DATABASE postgres TO "{{name}}"; GRANT USAGE ON SCHEMA app, public TO "{{name}}"',
        'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{{name}}"; GRANT SELECT (id) ON app.orders TO "{{name}}"',
        'GRANT USAGE ON SEQUENCE public.numbers TO "{{name}}"; GRANT EXECUTE ON FUNCTION app.twice(int) TO "{{name}}"',
        'ALTER DEFAULT PRIVILEGES IN SCHEMA app GRANT SELECT ON TABLES TO "{{name}}"',
        'ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO "{{name}}"',
        'GRANT pg_monitor TO "{{name}}"',
      );
      await session.deleteUser({ username: 'granted "odd"', statements: none, signal: signal() });
      expect(await exists('granted "odd"')).toBe(false);
    });
  });

  test('a user who owns something is not dropped, and the message says what', async () => {
    await withSession(async (session) => {
      await create(session, 'owner', 'GRANT SELECT ON app.orders TO "{{name}}"');
      await server.query('CREATE TABLE app.owned ()');
      await server.query('ALTER TABLE app.owned OWNER TO owner');
      const deleting = session.deleteUser({ username: 'owner', statements: none, signal: signal() });
      await expect(deleting).rejects.toThrow(/cannot be dropped because some objects depend on it: .*table app\.owned \(SQLSTATE 2BP01\)$/);
      expect(await server.query(`SELECT 1 WHERE has_table_privilege('owner', 'app.orders', 'SELECT')`)).toEqual([]);
      await server.query('DROP TABLE app.owned');
      await session.deleteUser({ username: 'owner', statements: none, signal: signal() });
      expect(await exists('owner')).toBe(false);
    });
  });

  test('revocations that the root user may not do are all tried, and then the user is kept', async () => {
    await server.query(`CREATE ROLE lesser LOGIN CREATEROLE PASSWORD '${server.password}'`);
    await withSession(async (session) => {
      await create(session, 'partly', 'GRANT SELECT ON app.orders TO "{{name}}"; GRANT USAGE ON SCHEMA app TO "{{name}}"');
    });
    await withSession(
      async (session) => {
        const deleting = session.deleteUser({ username: 'partly', statements: none, signal: signal() });
        await expect(deleting).rejects.toThrow(/^could not perform all revocation statements: .*permission denied.*; .*permission denied/);
      },
      { username: 'lesser' },
    );
    expect(await exists('partly')).toBe(true);
  });

  test('revocation_statements: run in place of the default, and failing for want of the user is success', async () => {
    await withSession(async (session) => {
      await create(session, 'custom');
      const statements = { commands: ['DROP ROLE "{{name}}"'] };
      await session.deleteUser({ username: 'custom', statements, signal: signal() });
      expect(await exists('custom')).toBe(false);
      await session.deleteUser({ username: 'custom', statements, signal: signal() });
      await create(session, 'custom');
      await expect(session.deleteUser({ username: 'custom', statements: { commands: ['BOGUS'] }, signal: signal() })).rejects.toThrow(
        'BOGUS',
      );
    });
  });

  test('the managing user needs no more permissions than docs/databases/postgresql.md says', async () => {
    const page = await readFile(new URL('../../../docs/databases/postgresql.md', import.meta.url), 'utf8');
    const [, statements] = /```sql\n(CREATE [^]*?)```/.exec(page)!;
    for (const statement of statements!.split(';')) if (statement.trim() !== '') await server.query(statement);
    const manager = { username: 'strongroom', password: 'manager-password' };
    const changed = await withSession(
      (session) => doAllAsManager(session, manager.username, [CREATE, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{{name}}"`]),
      manager,
    );
    expect(await exists('least')).toBe(false);
    await withSession((session) => session.verify(signal()), { ...manager, password: changed });
  });

  test('many sessions that grant on the same table at once take turns', async () => {
    const grants = ['GRANT USAGE ON SCHEMA app TO "{{name}}"', 'GRANT SELECT ON ALL TABLES IN SCHEMA app TO "{{name}}"'];
    const names = Array.from({ length: 30 }, (_, index) => `busy-${index}`);
    await Promise.all([
      withSession(async (session) => void (await Promise.all(names.slice(0, 15).map((name) => create(session, name, ...grants))))),
      withSession(async (session) => void (await Promise.all(names.slice(15).map((name) => create(session, name, ...grants))))),
    ]);
    await withSession(async (session) => {
      await Promise.all(names.map((username) => session.deleteUser({ username, statements: none, signal: signal() })));
    });
    expect(await server.query(`SELECT 1 FROM pg_roles WHERE rolname LIKE 'busy-%'`)).toEqual([]);
  });

  test('what a statement sets or leaves open does not reach the next user of the connection', async () => {
    await withSession(
      async (session) => {
        await server.query('CREATE ROLE powerless');
        await create(session, 'first', 'SET ROLE powerless');
        await create(session, 'second', 'BEGIN');
        await create(session, 'third');
        expect(await exists('third')).toBe(true);
      },
      { max_open_connections: 1 },
    );
  });

  test('max_open_connections, max_idle_connections: no more are made and kept, and they say who they are', async () => {
    const ours = () => server.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE application_name = 'strongroom'`);
    // Of a session before, PostgreSQL may still carry out what was cancelled.
    const others = new Set((await ours()).map(({ pid }) => pid));
    await withSession(
      async (session) => {
        await Promise.all(Array.from({ length: 8 }, (_, index) => create(session, `pooled-${index}`)));
        const kept = async () => (await ours()).filter(({ pid }) => !others.has(pid));
        // The server takes its time to notice who has left.
        const giveUp = Date.now() + 40_000;
        while ((await kept()).length > 1 && Date.now() < giveUp);
        expect((await kept()).length).toBe(1);
      },
      { max_open_connections: 3, max_idle_connections: 1 },
    );
  });

  test('listUsers leaves out roles that do not log in', async () => {
    await server.query('CREATE ROLE "listed_Group" NOLOGIN');
    await server.query('CREATE ROLE "listed_User" LOGIN');
    await withSession(async (session) => {
      expect(await session.listUsers!({ prefix: 'listed_', signal: signal() })).toEqual(['listed_User']);
      expect(await session.listUsers!({ prefix: 'LISTED_', signal: signal() })).toEqual([]);
      expect(await session.listUsers!({ prefix: '', signal: signal() })).toContain(server.superuser);
    });
  });

  test('preview shows what creation sends, in order', () => {
    const request = { username: `o"b'`, credential, expiresAt, statements: { commands: [CREATE, `SELECT 1; SELECT ';'`] } };
    expect(postgresqlPlugin.preview!(request)).toEqual([
      `CREATE ROLE "o""b'" WITH LOGIN PASSWORD '${password}' VALID UNTIL '2031-02-03 04:05:06+0000'`,
      'SELECT 1',
      `SELECT ';'`,
    ]);
    expect(() => postgresqlPlugin.preview!({ ...request, statements: none })).toThrow('empty creation statements');
    const key = { type: 'rsa_private_key', publicKey: '' } as const;
    expect(() => postgresqlPlugin.preview!({ ...request, credential: key })).toThrow('does not support credential_type "rsa_private_key"');
  });

  test('pool shows who works, who waits, and forgets connections that are gone', async () => {
    await withSession(
      async (session) => {
        const sleeping = Array.from({ length: 3 }, (_, index) => create(session, `sleeper-${index}`, 'SELECT pg_sleep(0.3)'));
        const seen = async (wanted: object) => {
          const giveUp = Date.now() + 10_000;
          while (JSON.stringify(session.pool!()) !== JSON.stringify(wanted) && Date.now() < giveUp) await server.query('SELECT 1');
          expect(session.pool!()).toEqual(wanted);
        };
        await seen({ open: 2, idle: 0, waiting: 1, limit: 2 });
        await Promise.all(sleeping);
        await seen({ open: 2, idle: 2, waiting: 0, limit: 2 });
        await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pooled'`);
        await seen({ open: 0, idle: 0, waiting: 0, limit: 2 });
      },
      { max_open_connections: 2, connection_url: `${settings().connection_url}&application_name=pooled` },
    );
  });

  test('max_connection_lifetime: a connection past it is replaced', async () => {
    const started = () => server.query(`SELECT pid FROM pg_stat_activity WHERE application_name = 'lifetimes'`);
    await withSession(
      async (session) => {
        await session.verify(signal());
        const [first] = await started();
        const giveUp = Date.now() + 10_000;
        let now = first;
        while (now?.pid === first?.pid && Date.now() < giveUp) {
          await session.verify(signal());
          now = (await started()).at(-1);
        }
        expect(now?.pid).not.toBe(first?.pid);
      },
      {
        connection_url: `${settings().connection_url}&application_name=lifetimes`,
        max_open_connections: 1,
        max_connection_lifetime: '50ms',
      },
    );
  });

  test('an aborted call stops the statement on the server, not only the waiting for it', async () => {
    const running = () =>
      server.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'strongroom' AND query LIKE '%pg_sleep(50)%'`);
    const until = async (count: number) => {
      const giveUp = Date.now() + 10_000;
      while ((await running()).length !== count && Date.now() < giveUp);
      expect(await running()).toHaveLength(count);
    };
    await withSession(async (session) => {
      await abortCreation(session, [CREATE, 'SELECT pg_sleep(50)'], () => until(1));
      await until(0);
      expect(await exists('aborted')).toBe(false);
    });
  });

  test('rollback_statements: keep nobody waiting who has given up, but close waits for them', async () => {
    const session = await open();
    const controller = new AbortController();
    const creating = session.createUser({
      username: 'given-up',
      credential,
      expiresAt,
      statements: { commands: [CREATE, 'SELECT pg_sleep(60)'] },
      rollback: { commands: ['SELECT pg_sleep(2); CREATE ROLE undone'] },
      signal: controller.signal,
    });
    controller.abort(new Error('deadline'));
    await expect(creating).rejects.toThrow('deadline');
    expect(await exists('undone')).toBe(false);
    await session.close();
    expect(await exists('undone')).toBe(true);
  });

  test('connection_url: of several hosts the one that answers is used', async () => {
    const connection_url = `postgresql://{{username}}:{{password}}@127.0.0.1:1,${server.host}:${server.port}/postgres?sslmode=disable&target_session_attrs=read-write`;
    await withSession((session) => session.verify(signal()), { connection_url });
  });

  test('connection_url: its parameters are set for the session', async () => {
    await withSession(
      async (session) => {
        await create(session, 'located', 'CREATE TABLE created_here ()');
        expect(await server.query(`SELECT schemaname FROM pg_tables WHERE tablename = 'created_here'`)).toEqual([{ schemaname: 'app' }]);
      },
      { connection_url: `${settings().connection_url}&search_path=app` },
    );
  });

  test('connection_url, username, password, disable_escaping: special characters log in, in URLs and keyword strings', async () => {
    const odd = `a'b@c/d:e%41 \\"?#`;
    await server.query(`CREATE ROLE "o@d:/%64d" LOGIN PASSWORD '${odd.replaceAll("'", "''")}'`);
    const login = { username: 'o@d:/%64d', password: odd };
    await withSession((session) => session.verify(signal()), login);
    const keywords = `host=${server.host} port=${server.port} user={{username}} password={{password}} dbname=postgres`;
    await withSession((session) => session.verify(signal()), { ...login, connection_url: keywords });
    const escaped = { username: encodeURIComponent(login.username), password: encodeURIComponent(odd), disable_escaping: true };
    await withSession((session) => session.verify(signal()), escaped);
  });

  test('password_authentication: with scram-sha-256 the server sees a verifier only', async () => {
    await withSession(
      async (session) => {
        await create(session, 'hashed', `COMMENT ON ROLE "{{name}}" IS '{{password}}'`);
        expect(await server.login('hashed', password)).toBe('hashed');
        const [row] = await server.query(`SELECT shobj_description(oid, 'pg_authid') AS text FROM pg_roles WHERE rolname = 'hashed'`);
        expect(row?.text).toMatch(/^SCRAM-SHA-256\$/);
        const next = 'Next-pässword-12345';
        await session.updateUser({
          username: 'hashed',
          credential: { type: 'password', password: next },
          statements: none,
          signal: signal(),
        });
        expect(await server.login('hashed', next)).toBe('hashed');
        await expect(server.login('hashed', password)).rejects.toThrow('password authentication failed');
      },
      { password_authentication: 'scram-sha-256' },
    );
  });

  test('a statement that wants a password is refused where the role issues certificates', async () => {
    await withSession(async (session) => {
      const certificate = { type: 'client_certificate', subject: 'CN=x' } as const;
      const request = { username: 'certified', credential: certificate, expiresAt, rollback: none, signal: signal() };
      await expect(session.createUser({ ...request, statements: { commands: [CREATE] } })).rejects.toThrow('{{password}}');
      await session.createUser({
        ...request,
        statements: { commands: [`CREATE ROLE "{{name}}" LOGIN; COMMENT ON ROLE "{{name}}" IS '{{subject}}'`] },
      });
      expect(await exists('certified')).toBe(true);
      await expect(
        session.updateUser({ username: 'certified', credential: certificate, statements: none, signal: signal() }),
      ).rejects.toThrow('rotation statements');
    });
  });
});
