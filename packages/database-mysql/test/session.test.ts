import { readFile } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { abortCreation, doAllAsManager, loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import { type MysqlConnection, mysqlPlugin } from '../src/index.ts';
import { describeOnServers, type TestedServer } from './servers.ts';

const host = loggingHost();
const { credential, expiresAt, none, password, signal } = usual;
const CREATE = `CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}';`;
/** Every printable character of ASCII that is no letter or digit, and some beyond. */
const SPECIAL = ` !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~ä€😀`;

describeOnServers('a session', ({ isMariadb, start }) => {
  let server: TestedServer;
  beforeAll(async () => {
    server = await start();
    for (const statement of ['CREATE DATABASE app', 'CREATE TABLE app.log (who varchar(80)) ENGINE=InnoDB']) await server.query(statement);
  }, 60_000);
  afterAll(() => server?.stop());

  const settings = (change: Partial<MysqlConnection> = {}): MysqlConnection => ({
    connection_url: `{{username}}:{{password}}@tcp(${server.host}:${server.port})/`,
    username: server.superuser,
    password: server.password,
    ...change,
  });
  const parameters = (text: string) => ({ connection_url: `${settings().connection_url}?${text}` });
  const open = (change?: Partial<MysqlConnection>) => mysqlPlugin.open(settings(change), host);
  const withSession = <T>(work: (session: DatabaseSession) => Promise<T>, change?: Partial<MysqlConnection>) =>
    inSession(() => open(change), work);
  const run = (session: DatabaseSession, username: string, ...commands: string[]) =>
    session.createUser({ username, credential, expiresAt, statements: { commands }, rollback: none, signal: signal() });
  const create = (session: DatabaseSession, username: string, ...commands: string[]) => run(session, username, CREATE, ...commands);
  const remove = (session: DatabaseSession, username: string, ...commands: string[]) =>
    session.deleteUser({ username, statements: { commands }, signal: signal() });
  const exists = async (username: string) =>
    (await server.query(`SELECT 1 FROM mysql.user WHERE User = CONVERT(X'${Buffer.from(username).toString('hex')}' USING utf8mb4)`))
      .length > 0;

  describe('errors', () => {
    test('say what the server said, with its number and SQLSTATE', async () => {
      await withSession(async (session) => {
        await expect(run(session, 'x', 'BOGUS')).rejects.toMatchObject({
          code: 'statement_failed',
          serverCode: '1064',
          message: expect.stringMatching(
            /^failed to execute query: Error 1064 \(42000\): You have an error in your SQL syntax; .* near 'BOGUS' at line 1$/,
          ),
        });
        await expect(session.updateUser({ username: 'nouser', credential, statements: none, signal: signal() })).rejects.toThrow(
          `failed to execute query: Error 1396 (HY000): Operation ALTER USER failed for 'nouser'@'%'`,
        );
      });
    });

    test('of verification say where, and why', async () => {
      await withSession(
        async (session) => {
          const verifying = session.verify(signal());
          await expect(verifying).rejects.toMatchObject({ code: 'verification_failed' });
          await expect(verifying).rejects.toThrow(
            `error verifying - ping: ${server.host}:${server.port}: Error 1045 (28000): Access denied for user 'root'@'${isMariadb ? '127.0.0.1' : 'localhost'}' (using password: YES)`,
          );
          await expect(create(session, 'x')).rejects.toMatchObject({ code: 'connection_lost' });
        },
        { password: 'wrong' },
      );
      await withSession((session) => expect(session.verify(signal())).rejects.toThrow(/127\.0\.0\.1:1: .*ECONNREFUSED/), {
        connection_url: '{{username}}:{{password}}@tcp(127.0.0.1:1)/',
      });
    });

    test('hide a password that the server quotes, also one that it cuts off', async () => {
      const long = `p'w\\${'x'.repeat(30)}`;
      await withSession(async (session) => {
        for (const before of ['', 'y'.repeat(30), 'y'.repeat(41), 'y'.repeat(60)]) {
          const statements = { commands: [`BOGUS ${before} '{{password}}' and more`] };
          const failure = session.updateUser({
            username: 'x',
            credential: { type: 'password', password: long },
            statements,
            signal: signal(),
          });
          const text = await failure.then(String, String);
          expect(text).toContain('near ');
          expect(text).not.toMatch(/xxx|p''w/);
        }
      });
    });
  });

  describe('connection_url', () => {
    test('username, password, disable_escaping: every special character logs in, in DSNs and URLs', async () => {
      const odd = { username: `o:${SPECIAL}`.slice(0, 32), password: SPECIAL };
      await server.query(`CREATE USER ? IDENTIFIED BY ?`, [odd.username, odd.password]);
      await withSession((session) => session.verify(signal()), odd);
      await withSession((session) => session.verify(signal()), { ...odd, disable_escaping: true });
      await withSession((session) => session.verify(signal()), {
        ...odd,
        connection_url: `mysql://{{username}}:{{password}}@${server.host}:${server.port}/`,
      });
      await withSession((session) => session.verify(signal()), {
        connection_url: `mysql://${encodeURIComponent(odd.username)}:${encodeURIComponent(odd.password)}@${server.host}:${server.port}`,
      });
      const plain = 'a@b/c:d?e(f)';
      await server.query(`CREATE USER written IDENTIFIED BY ?`, [plain]);
      await withSession((session) => session.verify(signal()), {
        connection_url: `written:${plain}@tcp(${server.host}:${server.port})/`,
      });
    });

    test('several hosts are tried until one answers', async () => {
      await withSession((session) => session.verify(signal()), {
        connection_url: `{{username}}:{{password}}@tcp(127.0.0.1:1,${server.host}:${server.port})/`,
      });
    });

    test('a Unix socket is spoken to', async () => {
      await server.query(`CREATE USER IF NOT EXISTS 'local'@'localhost' IDENTIFIED BY ?`, [server.password]);
      await withSession((session) => session.verify(signal()), { connection_url: `local:{{password}}@unix(${server.socket})/` });
    });

    test('parameters are variables of the session, and the connection says who it is', async () => {
      await withSession(async (session) => {
        await run(session, 'x', `INSERT INTO app.log SELECT CONCAT(@@SESSION.lock_wait_timeout, @@SESSION.lc_messages)`);
        expect(await server.query('SELECT who FROM app.log')).toEqual([{ who: '77de_DE' }]);
        await server.query('DELETE FROM app.log');
      }, parameters(`lock_wait_timeout=77&lc_messages=%27de_DE%27&parseTime=true&timeout=5s&connectionAttributes=k:v,l:w`));
      await expect(open(parameters('a=b%20c;%20DROP'))).rejects.toThrow('the value of a in connection_url must be');
      await expect(open(parameters('a;b=1'))).rejects.toThrow('unknown parameter');
      await expect(open(parameters('allowAllFiles=true'))).rejects.toThrow('allowAllFiles');
      await expect(open(parameters('timeout=soon'))).rejects.toThrow('timeout');
    });

    test('multiStatements lets one statement be several', async () => {
      const several = `${CREATE.slice(0, -1)}; GRANT SELECT ON app.* TO '{{name}}'@'%'; CREATE PROCEDURE app.p() BEGIN END`;
      await withSession((session) => expect(run(session, 'several', several)).rejects.toThrow('1064'));
      await withSession((session) => run(session, 'several', several), parameters('multiStatements=true'));
      expect(await server.query(`SHOW GRANTS FOR several`)).toHaveLength(2);
    });

    test('settings that cannot work are refused before anything connects', async () => {
      await expect(open({ connection_url: ' ' })).rejects.toThrow(/^connection_url cannot be empty$/);
      for (const connection_url of [
        'u:secret-pw@tcp(h:1)',
        'u:secret-pw@tcp(h:1',
        'u:secret-pw@h:1/',
        'u:secret-pw@tcp(h:1:2)/',
        'mysql://u:%zz@h/',
      ])
        await expect(open({ connection_url })).rejects.toThrow(/^unable to parse connection url: it must be like {{username}}:.*:3306\/$/);
      await expect(open({ connection_url: 'u:secret-pw@tcp(h:70000)/' })).rejects.toThrow('port');
      await expect(open({ connection_url: 'u:secret-pw@memory(h)/' })).rejects.toThrow('tcp(host:port) or unix(path)');
      await expect(open({ max_connection_lifetime: 'soon' })).rejects.toThrow('max_connection_lifetime');
    });
  });

  describe('sql_mode', () => {
    test.each(['NO_BACKSLASH_ESCAPES', 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,STRICT_ALL_TABLES', 'ANSI_QUOTES', ''])(
      'values are what they are written as under %p',
      async (mode) => {
        await server.query('SET GLOBAL sql_mode = ?', [mode]);
        try {
          await withSession(async (session) => {
            for (const secret of [SPECIAL, `\\`, `\\'`, `'\\`, `"\\"`, `'; DROP USER root; -- `]) {
              const user = { username: 'quoted', credential: { type: 'password', password: `Pw1${secret}` } as const };
              await session.createUser({ ...user, expiresAt, statements: { commands: [CREATE] }, rollback: none, signal: signal() });
              expect(await server.login('quoted', `Pw1${secret}`)).toBe('quoted@%');
              await session.updateUser({
                ...user,
                credential: { type: 'password', password: `Pw2${secret}` },
                statements: none,
                signal: signal(),
              });
              expect(await server.login('quoted', `Pw2${secret}`)).toBe('quoted@%');
              await remove(session, 'quoted');
            }
            await create(session, `na\\me'"`);
            expect(await exists(`na\\me'"`)).toBe(true);
            await remove(session, `na\\me'"`);
            expect(await exists(`na\\me'"`)).toBe(false);
          });
        } finally {
          await server.query('SET GLOBAL sql_mode = DEFAULT');
        }
      },
    );

    test('a mode that connection_url sets is kept but for the escapes', async () => {
      await withSession(async (session) => {
        await run(session, 'x', 'INSERT INTO app.log SELECT @@SESSION.sql_mode');
        expect(await server.query('SELECT who FROM app.log')).toEqual([{ who: 'ANSI_QUOTES,NO_ZERO_DATE' }]);
        await server.query('DELETE FROM app.log');
      }, parameters(`sql_mode=%27NO_BACKSLASH_ESCAPES,ANSI_QUOTES,NO_ZERO_DATE%27`));
    });
  });

  describe('creation', () => {
    test('creation_statements: there is no default', async () => {
      await withSession(async (session) => {
        await expect(run(session, 'x')).rejects.toThrow(/^empty creation statements$/);
        await expect(run(session, 'x', ' ; ')).rejects.toThrow(/^empty creation statements$/);
      });
    });

    test('does not touch a user whom somebody else made', async () => {
      await server.query(`CREATE USER taken IDENTIFIED BY 'theirs'`);
      await withSession(async (session) => {
        await expect(create(session, 'taken', 'BOGUS')).rejects.toThrow('1396');
        await expect(run(session, 'taken', `CREATE USER other; ${CREATE}`)).rejects.toThrow('1396');
        await expect(run(session, 'taken', `CREATE USER IF NOT EXISTS '{{name}}'@'%' IDENTIFIED BY '{{password}}'; BOGUS`)).rejects.toThrow(
          '1064',
        );
        await expect(run(session, 'taken', `GRANT SELECT ON app.* TO '{{name}}'@'%'; BOGUS`)).rejects.toThrow('1064');
      });
      expect(await server.login('taken', 'theirs')).toBe('taken@%');
    });

    test('that fails half-way leaves no user, however it was made', async () => {
      await withSession(async (session) => {
        for (const statement of [
          CREATE,
          `CREATE USER IF NOT EXISTS '{{name}}'@'%' IDENTIFIED BY '{{password}}'`,
          `GRANT SELECT ON app.* TO '{{name}}'@'%' IDENTIFIED BY '{{password}}'`,
        ]) {
          await expect(run(session, 'halfmade', statement, 'BOGUS')).rejects.toThrow('1064');
          expect(await exists('halfmade')).toBe(false);
        }
      });
    });

    test('rows written by statements go back if a later one fails', async () => {
      await withSession(async (session) => {
        const failing = run(session, 'x', `INSERT INTO app.log VALUES ('{{name}}'); INSERT INTO app.log VALUES ('again'); BOGUS`);
        await expect(failing).rejects.toThrow('1064');
        expect(await server.query('SELECT * FROM app.log')).toEqual([]);
        await run(session, 'x', `INSERT INTO app.log VALUES ('{{name}}'); INSERT INTO app.log VALUES ('{{expiration}}')`);
        expect(await server.query('SELECT * FROM app.log')).toEqual([{ who: 'x' }, { who: '2031-02-03 04:05:06+0000' }]);
        await server.query('DELETE FROM app.log');
      });
    });

    test('nothing of it is prepared, so the server keeps no statement with a password', async () => {
      const prepared = async () => (await server.query(`SHOW GLOBAL STATUS LIKE 'Com_stmt_prepare'`))[0]?.['Value'];
      const before = await prepared();
      await withSession(async (session) => {
        await create(session, 'unprepared');
        await session.updateUser({ username: 'unprepared', credential, statements: none, signal: signal() });
        await remove(session, 'unprepared');
      });
      expect(await prepared()).toBe(before);
    });

    test('rollback_statements: that fail are logged without the password', async () => {
      await withSession(async (session) => {
        const request = { username: 'undone', credential, expiresAt, signal: signal() };
        const rollback = { commands: [`BOGUS '{{password}}'`] };
        await expect(session.createUser({ ...request, statements: { commands: [CREATE, 'BOGUS'] }, rollback })).rejects.toThrow('1064');
      });
      expect(await exists('undone')).toBe(false);
      expect(host.logged.join()).toMatch(/a partly created user could not be removed.*1064/);
      expect(host.logged.join()).not.toContain(password);
    });

    test('what a statement sets or leaves open does not reach the next user of the connection', async () => {
      await withSession(
        async (session) => {
          await run(session, 'x', `SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'`);
          await run(session, 'x', 'USE app');
          await run(session, 'x', 'START TRANSACTION');
          await run(session, 'x', `CREATE TEMPORARY TABLE app.mine (x int)`);
          await expect(run(session, 'x', 'SELECT * FROM log')).rejects.toThrow('1046');
          await expect(run(session, 'x', 'SELECT * FROM app.mine')).rejects.toThrow('1146');
          await run(session, 'x', `INSERT INTO app.log VALUES ('kept')`);
          expect(await server.query('SELECT * FROM app.log')).toEqual([{ who: 'kept' }]);
          await server.query('DELETE FROM app.log');
        },
        { max_open_connections: 1 },
      );
    });
  });

  describe('renewal and rotation', () => {
    test('renew_statements: run where a role has some; by default nothing happens', async () => {
      await withSession(async (session) => {
        await create(session, 'renewed');
        const renew = (...commands: string[]) =>
          session.renewUser!({ username: 'renewed', expiresAt, statements: { commands }, signal: signal() });
        await renew();
        await renew(`INSERT INTO app.log VALUES ('{{name}} until {{expiration}}')`);
        expect(await server.query('SELECT * FROM app.log')).toEqual([{ who: 'renewed until 2031-02-03 04:05:06+0000' }]);
        await server.query('DELETE FROM app.log');
      });
    });

    test('the managing user can change its own password, by default and by statements', async () => {
      await server.query(`CREATE USER manager IDENTIFIED BY 'first'`);
      await server.query('GRANT ALL PRIVILEGES ON *.* TO manager WITH GRANT OPTION');
      await withSession(
        async (session) => {
          const change = (next: string, ...commands: string[]) =>
            session.updateUser({
              username: 'manager',
              credential: { type: 'password', password: next },
              statements: { commands },
              signal: signal(),
            });
          await change(SPECIAL);
          expect(await server.login('manager', SPECIAL)).toBe('manager@%');
          await change('third', `SET PASSWORD FOR '{{username}}'@'%' = ${isMariadb ? `PASSWORD('{{password}}')` : `'{{password}}'`}`);
          expect(await server.login('manager', 'third')).toBe('manager@%');
        },
        { username: 'manager', password: 'first' },
      );
    });
  });

  describe('revocation', () => {
    test('with endSessions ends sessions that are open, and then removes the user', async () => {
      await withSession(async (session) => {
        await create(session, 'ending');
        const theirs = await mysql.createConnection({ host: server.host, port: server.port, user: 'ending', password });
        const ended = new Promise((resolve) => theirs.on('error', resolve));
        await session.deleteUser({ username: 'ending', statements: none, endSessions: true, signal: signal() });
        await ended;
        expect(await exists('ending')).toBe(false);
        await session.deleteUser({ username: 'ending', statements: none, endSessions: true, signal: signal() });
      });
    });

    test('takes the privileges from sessions that are open', async () => {
      await withSession(async (session) => {
        await create(session, 'working', `GRANT SELECT ON app.* TO '{{name}}'@'%'`);
        const theirs = await open({ username: 'working', password });
        const read = () => run(theirs, 'x', 'DELETE FROM app.log WHERE 1 = 0').catch((error: Error) => error.message);
        await run(theirs, 'x', 'DO 1');
        expect(await read()).toContain('DELETE command denied');
        await remove(session, 'working');
        await expect(server.login('working', password)).rejects.toThrow('Access denied');
        await theirs.close();
      });
    });

    test('a user at another host than % is not dropped by default, and the message says what is needed', async () => {
      await server.query(`CREATE USER 'hosted'@'10.0.0.1' IDENTIFIED BY 'x'`);
      await withSession(async (session) => {
        await expect(remove(session, 'hosted')).rejects.toThrow(`at host '%' but at '10.0.0.1': the role needs revocation_statements`);
        await remove(session, 'hosted', `DROP USER '{{name}}'@'10.0.0.1'`);
        expect(await exists('hosted')).toBe(false);
      });
    });

    test('revocation_statements: run in place of the default, and failing for want of the user is success', async () => {
      await withSession(async (session) => {
        await create(session, 'custom');
        await remove(session, 'custom', `DROP USER '{{name}}'@'%'`);
        expect(await exists('custom')).toBe(false);
        await remove(session, 'custom', `DROP USER '{{name}}'@'%'`);
        await create(session, 'custom');
        await expect(remove(session, 'custom', 'BOGUS')).rejects.toThrow('BOGUS');
        await remove(session, 'custom');
      });
    });

    test('the managing user needs no more permissions than docs/databases/mysql.md says', async () => {
      const page = await readFile(new URL('../../../docs/databases/mysql.md', import.meta.url), 'utf8');
      const [, statements] = /```sql\n(CREATE [^]*?)```/.exec(page)!;
      // The statements have MySQL's name of the privilege, and the page has MariaDB's beside it.
      expect(page).toContain('`CONNECTION_ADMIN` (`CONNECTION ADMIN` in MariaDB)');
      const own = isMariadb ? statements!.replace('CONNECTION_ADMIN', 'CONNECTION ADMIN') : statements!;
      for (const statement of own.split(';')) if (statement.trim() !== '') await server.query(statement);
      const manager = { username: 'strongroom', password: 'manager-password' };
      const changed = await withSession(
        (session) => doAllAsManager(session, manager.username, [CREATE, `GRANT SELECT ON app.* TO '{{name}}'@'%'`]),
        manager,
      );
      expect(await exists('least')).toBe(false);
      await withSession((session) => session.verify(signal()), { ...manager, password: changed });
    });

    test('works for a managing user who may not look into mysql.user, absent users included', async () => {
      await server.query(`CREATE USER narrow IDENTIFIED BY 'narrow-pw'`);
      await server.query('GRANT CREATE USER ON *.* TO narrow');
      await withSession(
        async (session) => {
          await create(session, 'unseen');
          await remove(session, 'unseen');
          await remove(session, 'unseen');
          expect(await exists('unseen')).toBe(false);
          await expect(session.listUsers!({ prefix: '', signal: signal() })).rejects.toThrow('1142');
        },
        { username: 'narrow', password: 'narrow-pw' },
      );
    });
  });

  describe('connections', () => {
    test('listUsers leaves out roles, and compares names byte by byte', async () => {
      await server.query('CREATE ROLE `listed_Role`');
      await server.query(`CREATE USER 'listed_User'@'%', 'listed_User'@'10.0.0.1'`);
      await withSession(async (session) => {
        expect(await session.listUsers!({ prefix: 'listed_', signal: signal() })).toEqual(['listed_User']);
        expect(await session.listUsers!({ prefix: 'LISTED_', signal: signal() })).toEqual([]);
      });
    });

    test('an aborted call ends the statement on the server, not only the waiting for it', async () => {
      const running = () => server.query(`SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(50)%'`);
      const until = async (count: number) => {
        const giveUp = Date.now() + 10_000;
        while ((await running()).length !== count && Date.now() < giveUp);
        expect(await running()).toHaveLength(count);
      };
      const session = await open();
      await abortCreation(session, [CREATE, 'SELECT SLEEP(50)'], () => until(1));
      await until(0);
      await session.close();
      expect(await exists('aborted')).toBe(false);
    });

    test('max_open_connections: pool shows who works, who waits, and forgets connections that are gone', async () => {
      await withSession(
        async (session) => {
          const sleeping = Array.from({ length: 3 }, (_, index) =>
            create(session, `sleeper-${index}`, `CREATE DATABASE IF NOT EXISTS app`),
          );
          await Promise.all(sleeping);
          expect(session.pool!()).toMatchObject({ waiting: 0, limit: 2 });
          const waiting = Array.from({ length: 3 }, (_, index) => run(session, `sleeper-${index}`, `SELECT SLEEP(0.3)`));
          const seen = async (wanted: object) => {
            const giveUp = Date.now() + 10_000;
            while (JSON.stringify(session.pool!()) !== JSON.stringify(wanted) && Date.now() < giveUp) await server.query('SELECT 1');
            expect(session.pool!()).toEqual(wanted);
          };
          await seen({ open: 2, idle: 0, waiting: 1, limit: 2 });
          await Promise.all(waiting);
          await session.verify(signal());
          await seen({ open: 1, idle: 1, waiting: 0, limit: 2 });
          for (const { id } of await server.query('SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()'))
            await server.query(`KILL ${String(id)}`).catch(() => undefined);
          await seen({ open: 0, idle: 0, waiting: 0, limit: 2 });
          await session.verify(signal());
        },
        { max_open_connections: 2 },
      );
    });

    test('max_connection_lifetime: a connection past it is replaced', async () => {
      const identity = () => server.query(`SELECT id FROM information_schema.processlist WHERE db = 'app' ORDER BY id`);
      await withSession(
        async (session) => {
          await session.verify(signal());
          const [first] = await identity();
          const giveUp = Date.now() + 10_000;
          let now = first;
          while (now?.['id'] === first?.['id'] && Date.now() < giveUp) {
            await session.verify(signal());
            now = (await identity()).at(-1);
          }
          expect(now?.['id']).not.toBe(first?.['id']);
        },
        { connection_url: `${settings().connection_url}app`, max_open_connections: 1, max_connection_lifetime: '50ms' },
      );
    });

    test('after the server has refused to write, another connection is made', async () => {
      await server.query(`CREATE USER 'ordinary' IDENTIFIED BY 'ordinary-pw'`);
      await server.query('GRANT CREATE USER ON *.* TO ordinary');
      await server.query('GRANT SELECT ON mysql.user TO ordinary');
      await withSession(
        async (session) => {
          await server.query('SET GLOBAL read_only = 1');
          await expect(create(session, 'readonly')).rejects.toThrow('1290');
          expect(session.pool!().open).toBe(0);
          await server.query('SET GLOBAL read_only = 0');
          await create(session, 'readonly');
        },
        { username: 'ordinary', password: 'ordinary-pw' },
      );
    });
  });
});
