import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import { createTestCa } from '@strongroom/lab';
import { type MssqlConnection, mssqlPlugin } from '../src/index.ts';
import { type DoubleOptions, SqlServerDouble } from './sql-server-double.ts';

const host = loggingHost();
const { credential, expiresAt, none, password, signal } = usual;
const CREATE = `CREATE LOGIN [{{name}}] WITH PASSWORD = '{{password}}';`;
const SPECIAL = ` !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~ä€😀`;
const ca = createTestCa();
const identity = ca.issue('db', ['DNS:localhost', 'DNS:db.example']);

/** Waits for what happens elsewhere in this process, but not for ever. */
const until = async (happened: () => boolean) => {
  const giveUp = Date.now() + 20_000;
  while (!happened() && Date.now() < giveUp) await new Promise((resolve) => setImmediate(resolve));
  expect(happened()).toBe(true);
};

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('a SQL Server session', () => {
  let server: SqlServerDouble;
  const begin = async (options: DoubleOptions = { identity }) => {
    await server?.stop();
    server = new SqlServerDouble(options);
    await server.start();
  };
  beforeEach(() => begin());
  afterEach(() => server.stop());

  const settings = (change: Partial<MssqlConnection> = {}): MssqlConnection => ({
    connection_url: `sqlserver://{{username}}:{{password}}@localhost:${server.port}?database=app`,
    username: server.superuser,
    password: server.password,
    ...change,
  });
  const withSession = (work: (session: DatabaseSession) => Promise<void>, change?: Partial<MssqlConnection>) =>
    inSession(() => mssqlPlugin.open(settings(change), host), work);
  const run = (session: DatabaseSession, username: string, ...commands: string[]) =>
    session.createUser({ username, credential, expiresAt, statements: { commands }, rollback: none, signal: signal() });
  const remove = (session: DatabaseSession, username: string, ...commands: string[]) =>
    session.deleteUser({ username, statements: { commands }, signal: signal() });

  test('creates in one transaction, each statement a batch of its own, without preparing anything', async () => {
    await withSession((session) => run(session, 'app-1', `${CREATE} CREATE USER [{{name}}] FOR LOGIN [{{name}}]`));
    expect(server.batches).toEqual([
      'BEGIN TRANSACTION',
      `CREATE LOGIN [app-1] WITH PASSWORD = '${password}'`,
      'CREATE USER [app-1] FOR LOGIN [app-1]',
      'COMMIT TRANSACTION',
    ]);
    expect(server.users.get('app/app-1')).toBe('app-1');
  });

  test('rolls back what fails', async () => {
    await withSession(async (session) => {
      await expect(run(session, 'app-1', CREATE, 'BOGUS')).rejects.toMatchObject({ code: 'statement_failed', serverCode: '2812' });
      await expect(run(session, 'app-1', CREATE, 'BOGUS')).rejects.toThrow(
        `failed to execute query: mssql: Could not find stored procedure 'BOGUS'. (2812)`,
      );
      await expect(run(session, 'app-1')).rejects.toThrow(/^empty creation statements$/);
    });
    expect(server.accounts.has('app-1')).toBe(false);
    expect(server.batches).toContain('IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION');
  });

  test('says who could not connect where, and why', async () => {
    await withSession(
      async (session) => {
        await expect(session.verify(signal())).rejects.toThrow(
          `error verifying connection: localhost:${server.port}: Login failed for user 'sa'.`,
        );
        await expect(run(session, 'x', CREATE)).rejects.toMatchObject({ code: 'connection_lost' });
      },
      { password: 'wrong' },
    );
    await withSession((session) => expect(session.verify(signal())).rejects.toThrow(/127\.0\.0\.1:1: .*ECONNREFUSED/), {
      connection_url: 'sqlserver://{{username}}:{{password}}@127.0.0.1:1',
    });
  });

  test('contained_db: rotates by ALTER LOGIN, in a contained database by ALTER USER', async () => {
    const rotate = (session: DatabaseSession, ...commands: string[]) =>
      session.updateUser({
        username: 'sa',
        credential: { type: 'password', password: `n'e]w` },
        statements: { commands },
        signal: signal(),
      });
    await withSession((session) => rotate(session));
    expect(server.batches).toEqual([`ALTER LOGIN [sa] WITH PASSWORD = 'n''e]w'`]);
    expect(server.accounts.get('sa')?.password).toBe(`n'e]w`);
    await begin({ identity, contained: true });
    await withSession((session) => rotate(session), { contained_db: true });
    expect(server.batches).toEqual([`ALTER USER [sa] WITH PASSWORD = 'n''e]w'`]);
    await withSession(
      (session) =>
        expect(rotate(session, `ALTER LOGIN [{{username}}x] WITH PASSWORD = '{{password}}'`)).rejects.toThrow(
          `Cannot alter the login 'sax'`,
        ),
      { password: `n'e]w`, contained_db: true },
    );
  });

  test('renewal does what the role says, and by default nothing', async () => {
    await withSession(async (session) => {
      const renew = (...commands: string[]) =>
        session.renewUser!({ username: 'sa', expiresAt, statements: { commands }, signal: signal() });
      await renew();
      expect(server.batches).toEqual([]);
      await expect(renew(`EXEC renew '{{name}}', '{{expiration}}'`)).rejects.toThrow('2812');
      expect(server.batches).toEqual([`EXEC renew 'sa', '2031-02-03 04:05:06+0000'`]);
    });
  });

  describe('default revocation', () => {
    const odd = `v-o'd]d`;

    test('disables the login, ends its sessions, drops its users in every database, and the login', async () => {
      await withSession(async (session) => {
        await run(session, odd, CREATE, 'CREATE USER [{{name}}] FOR LOGIN [{{name}}]');
        server.users.set(`odd ] o'db/other name`, odd);
        server.users.set('app/bystander', 'sa');
        server.users.set('secret/hidden', odd);
        const theirs = await server.login(odd, password);
        const ended = new Promise((resolve) => theirs.once('end', resolve));
        server.batches.length = 0;
        await remove(session, odd);
        await ended;
        expect(server.accounts.has(odd)).toBe(false);
        expect([...server.users.keys()]).toEqual(['app/bystander', 'secret/hidden']);
        expect(server.batches.filter((batch) => !batch.startsWith('SELECT'))).toEqual([
          `ALTER LOGIN [v-o'd]]d] DISABLE`,
          `EXEC [master].sys.sp_executesql N'DENY CONNECT SQL TO [v-o''d]]d]'`,
          expect.stringMatching(/^KILL \d+$/),
          `EXEC [app].sys.sp_executesql N'DROP USER [v-o''d]]d]'`,
          `EXEC [odd ]] o'db].sys.sp_executesql N'DROP USER [other name]'`,
          `DROP LOGIN [v-o'd]]d]`,
        ]);
        await remove(session, odd);
      });
    });

    test('keeps the login, disabled, if a user cannot be dropped, and tries the others', async () => {
      await withSession(async (session) => {
        await run(session, 'app-1', CREATE, 'CREATE USER [{{name}}] FOR LOGIN [{{name}}]');
        server.users.set(`odd ] o'db/app-1`, 'app-1');
        server.failures.set('EXEC [app]', {
          number: 15_138,
          message: 'The database principal owns a schema in the database, and cannot be dropped.',
        });
        await expect(remove(session, 'app-1')).rejects.toThrow(
          'could not perform all sql statements: mssql: The database principal owns a schema in the database, and cannot be dropped. (15138)',
        );
        expect([...server.users.keys()]).toEqual(['app/app-1']);
        expect(server.accounts.get('app-1')?.disabled).toBe(true);
        server.failures.clear();
        await remove(session, 'app-1');
        expect(server.accounts.has('app-1')).toBe(false);
      });
    });

    test('waits for a killed session to end', async () => {
      await withSession(async (session) => {
        await run(session, 'app-1', CREATE);
        server.failures.set('DROP LOGIN', { number: 15_434, message: `Could not drop login 'app-1' as the user is currently logged in.` });
        const removing = remove(session, 'app-1');
        await until(() => server.batches.filter((batch) => batch.startsWith('DROP LOGIN')).length >= 2);
        server.failures.clear();
        await removing;
        expect(server.accounts.has('app-1')).toBe(false);
      });
    });

    test('takes users whose login is gone', async () => {
      server.users.set('app/left', 'left');
      await withSession((session) => remove(session, 'left'));
      expect(server.users.size).toBe(0);
    });

    test.each([
      ['DENY CONNECT SQL', 'Grantor does not have GRANT permission.', { disabled: true }],
      ['DISABLE', 'Cannot alter the login.', { denied: true }],
    ])('keeps the login out also where %s is refused, and removes it', async (part, message, left) => {
      await withSession(async (session) => {
        await run(session, 'app-1', CREATE);
        server.failures.set(part, { number: 4613, message });
        server.failures.set('DROP LOGIN', { number: 15_174, message: 'Login owns one or more database(s).' });
        await expect(remove(session, 'app-1')).rejects.toThrow('mssql: Login owns one or more database(s). (15174)');
        expect(server.accounts.get('app-1')).toMatchObject(left);
        await expect(server.login('app-1', password)).rejects.toThrow(/^Login failed for user 'app-1'\./);
        server.failures.delete('DROP LOGIN');
        await remove(session, 'app-1');
        expect(server.accounts.has('app-1')).toBe(false);
      });
    });

    test('keeps a login that can neither be disabled nor denied, and says why', async () => {
      await withSession(async (session) => {
        await run(session, 'app-1', CREATE);
        for (const part of ['DENY CONNECT SQL', 'DISABLE']) server.failures.set(part, { number: 15_151, message: `no ${part}` });
        await expect(remove(session, 'app-1')).rejects.toThrow('could not perform all sql statements: mssql: no DISABLE (15151)');
        expect(server.accounts.has('app-1')).toBe(true);
      });
    });

    test('contained_db: keeps the user out, ends its sessions and drops it', async () => {
      await begin({ identity, contained: true });
      await withSession(
        async (session) => {
          await run(session, 'app-1', `CREATE USER [{{name}}] WITH PASSWORD = '{{password}}'`);
          const theirs = await server.login('app-1', password);
          const ended = new Promise((resolve) => theirs.once('end', resolve));
          server.batches.length = 0;
          await remove(session, 'app-1');
          await ended;
          expect(server.batches.filter((batch) => !batch.startsWith('SELECT'))).toEqual([
            'DENY CONNECT TO [app-1]',
            expect.stringMatching(/^KILL \d+$/),
            'DROP USER [app-1]',
          ]);
        },
        { contained_db: true },
      );
    });

    test('revocation_statements: gives way to statements of the role, whose failing for want of the login is success', async () => {
      await withSession(async (session) => {
        await run(session, 'app-1', CREATE);
        await expect(remove(session, 'app-1', 'BOGUS')).rejects.toThrow('BOGUS');
        await remove(session, 'app-1', 'DROP LOGIN [{{name}}]');
        await remove(session, 'app-1', 'DROP LOGIN [{{name}}]');
        expect(server.accounts.has('app-1')).toBe(false);
      });
    });
  });

  describe('connections', () => {
    test('connection_url, username, password: log in with every special character, in every form', async () => {
      server.accounts.set(`o;=${SPECIAL.replace('\\', '')}`, { password: SPECIAL, disabled: false });
      const odd = { username: `o;=${SPECIAL.replace('\\', '')}`, password: SPECIAL };
      for (const connection_url of [
        settings().connection_url,
        `server=localhost,${server.port};user id={{username}};password={{password}}`,
        `odbc:server=localhost;port=${server.port};uid={{username}};pwd={{password}}`,
      ]) {
        await withSession((session) => session.verify(signal()), { ...odd, connection_url });
      }
    });

    test('say who they are, and where they go on after a failure', async () => {
      const connection_url = `sqlserver://{{username}}:{{password}}@127.0.0.1:1?failoverpartner=localhost&failoverport=${server.port}`;
      await withSession(
        async (session) => {
          await session.verify(signal());
          expect(server.apps).toEqual(['strongroom']);
        },
        { connection_url },
      );
    });

    test('are not shared after a statement that changed them', async () => {
      await withSession(
        async (session) => {
          await run(session, 'x', 'USE [master]', CREATE);
          await run(session, 'x', 'CREATE USER [{{name}}] FOR LOGIN [{{name}}]');
        },
        { max_open_connections: 1 },
      );
      expect([...server.users.keys()]).toEqual(['app/x']);
    });

    test('stop a batch whose caller does not wait any more, and what it did is undone', async () => {
      await withSession(async (session) => {
        const controller = new AbortController();
        const statements = { commands: [CREATE, `WAITFOR DELAY '00:00:40'`] };
        const creating = session.createUser({
          username: 'x',
          credential,
          expiresAt,
          statements,
          rollback: none,
          signal: controller.signal,
        });
        await until(() => server.batches.at(-1)?.startsWith('WAITFOR') === true);
        controller.abort(new Error('deadline'));
        await expect(creating).rejects.toThrow('deadline');
      });
      expect(server.attentions).toBe(1);
      expect(server.accounts.has('x')).toBe(false);
    });

    test('rollback_statements: keep nobody waiting who has given up, but close waits for them', async () => {
      const logged: string[] = [];
      const log = (message: string): void => void logged.push(message);
      const session = await mssqlPlugin.open(settings(), { ...host, log: { debug: log, info: log, warn: log, error: log } });
      const controller = new AbortController();
      const slow = { commands: [CREATE, `WAITFOR DELAY '00:00:40'`] };
      const rollback = { commands: [`WAITFOR DELAY '00:00:41'`] };
      const creating = session.createUser({ username: 'x', credential, expiresAt, statements: slow, rollback, signal: controller.signal });
      const waiting = () => server.batches.filter((batch) => batch.startsWith('WAITFOR')).length;
      await until(() => waiting() === 1);
      controller.abort(new Error('deadline'));
      await expect(creating).rejects.toThrow('deadline');
      expect(logged).toEqual([]);
      await until(() => waiting() === 2);
      const closing = session.close();
      await server.restart();
      await closing;
      expect(logged).toEqual(['rollback statements failed']);
    });

    test('max_open_connections: are counted', async () => {
      await withSession(
        async (session) => {
          const waiting = Array.from({ length: 3 }, (_, index) =>
            run(session, `x${index}`, CREATE, 'GRANT SELECT ON SCHEMA::dbo TO [{{name}}]'),
          );
          await until(() => session.pool!().open === 2);
          expect(session.pool!().limit).toBe(2);
          await Promise.all(waiting);
          await server.restart();
          await until(() => session.pool!().open === 0);
          await session.verify(signal());
          expect(session.pool!()).toEqual({ open: 1, idle: 1, waiting: 0, limit: 2 });
        },
        { max_open_connections: 2 },
      );
    });
  });

  describe('encryption', () => {
    const verify = (parameters: string, change: Partial<MssqlConnection> = {}, name = 'localhost') =>
      withSession(
        async (session) => {
          await session.verify(signal());
        },
        { connection_url: `sqlserver://{{username}}:{{password}}@${name}:${server.port}?${parameters}`, ...change },
      );
    const tls_ca = ca.certificate;

    test('tls_ca: is used where the server offers it, and its certificate checked where that is asked for', async () => {
      await verify('');
      await verify('encrypt=true', { tls_ca });
      await verify('', { tls_ca });
      await verify('hostNameInCertificate=db.example', { tls_ca }, '127.0.0.1');
      expect(server.inClear).toEqual([]);
      await expect(verify('encrypt=true')).rejects.toThrow(/certificate/);
      await expect(verify('', { tls_ca: createTestCa().certificate })).rejects.toThrow(/certificate/);
      // Which of the two depends on the version of Node.js.
      await expect(verify('', { tls_ca }, '127.0.0.1')).rejects.toThrow(
        /does not match certificate's altnames|: set hostNameInCertificate to a host name of the certificate$/,
      );
      await verify('encrypt=true&TrustServerCertificate=true');
    });

    test('encrypt=disable is refused by a server that wants encryption', async () => {
      await expect(verify('encrypt=disable')).rejects.toThrow('Server requires encryption');
    });

    test('a server without it gets no password where encryption was asked for', async () => {
      await begin({});
      for (const [parameters, change] of [['encrypt=true'], ['', { tls_ca }], ['TrustServerCertificate=false']] as const) {
        await expect(verify(parameters, change)).rejects.toThrow('does not offer encryption');
      }
      expect(server.inClear).toEqual([]);
      await verify('');
      await verify('encrypt=disable');
      expect(server.inClear).toEqual([server.password, server.password]);
    });
  });

  test('settings that would be something else here are refused before anything connects', async () => {
    const open = (text: string, change: Partial<MssqlConnection> = {}) =>
      mssqlPlugin.open(settings({ connection_url: `server=db;${text}`, ...change }), host);
    await expect(open('integrated security=SSPI')).rejects.toThrow('integrated security in connection_url is not supported');
    await expect(open('certificate=/etc/ca.pem')).rejects.toThrow('certificate in connection_url is not supported');
    await expect(open(String.raw`user id=CORP\me`)).rejects.toThrow('not one of Windows');
    await expect(open('', { tls_ca: 'nonsense' })).rejects.toThrow('tls_ca');
    await expect(open('dial timeout=soon')).rejects.toThrow('dial timeout');
    await expect(open('', { max_connection_lifetime: 'soon' })).rejects.toThrow('max_connection_lifetime');
  });
});
