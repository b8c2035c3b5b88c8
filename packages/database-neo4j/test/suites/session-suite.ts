import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import neo4j, { type Driver } from 'neo4j-driver';
import { describe, expect, test } from '@jest/globals';
import { usual } from '@strongroom/database-testkit';
import { createTestCa } from '@strongroom/lab';
import { neo4jPlugin } from '../../src/index.ts';
import type { TestedServer } from './tested-server.ts';

const { credential, expiresAt, none, password, signal } = usual;
const next = { type: 'password', password: 'Next-1234567890abcdef' } as const;

const authorityFolders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('strongroom-neo4j-') && name.length === 24);

export function sessionSuite(tested: TestedServer): void {
  /** A client that stays connected, as an application does. */
  const stayConnected = async (username: string): Promise<Driver> => {
    const driver = neo4j.driver(`bolt://127.0.0.1:${tested.server.port}`, neo4j.auth.basic(username, password));
    await ask(driver, 'neo4j');
    return driver;
  };
  const ask = async (driver: Driver, database: string): Promise<unknown> => {
    const session = driver.session({ database });
    try {
      return (await session.run('RETURN 1 AS one')).records.length;
    } finally {
      await session.close();
    }
  };

  describe('a Neo4j session', () => {
    test('creation_statements: without any, a user who can log in', async () => {
      await tested.withSession(async (session) => {
        await tested.create(session, 'v-plain');
        await tested.login('v-plain', password);
        await tested.remove(session, 'v-plain');
        await expect(tested.login('v-plain', password)).rejects.toThrow('unauthorized');
      });
    });

    test('creation_statements: no value becomes part of a statement, whatever surrounds its placeholder', async () => {
      await tested.withSession(async (session) => {
        const name = 'v-odd`\'"\\$x';
        await tested.create(session, name, [`CREATE USER \`app-{{name}}\` SET PASSWORD "{{password}}" CHANGE NOT REQUIRED`]);
        expect(await tested.users()).toContain(`app-${name}`);
        await tested.login(`app-${name}`, password);
        await tested.remove(session, `app-${name}`);
        expect(await tested.users()).not.toContain(`app-${name}`);
      });
    });

    test('a GRANT is refused in plain words, and the user that it was for is gone', async () => {
      await tested.withSession(async (session) => {
        const commands = [...['CREATE USER {{name}} SET PASSWORD {{password}} CHANGE NOT REQUIRED'], 'GRANT ROLE reader TO {{name}}'];
        const creating = tested.create(session, 'v-reader', commands);
        await expect(creating).rejects.toMatchObject({
          code: 'statement_failed',
          message: expect.stringContaining(
            'GRANT, DENY and REVOKE need the Enterprise Edition. In the Community Edition every user has all rights',
          ),
        });
        expect(await tested.users()).not.toContain('v-reader');
      });
    });

    test('a user who existed before is unchanged by a creation that fails', async () => {
      await tested.withSession(async (session) => {
        await tested.create(session, 'taken');
        const request = { username: 'taken', credential: next, expiresAt, statements: none, rollback: none, signal: signal() };
        await expect(session.createUser(request)).rejects.toThrow('User already exists');
        await tested.login('taken', password);
        await tested.remove(session, 'taken');
      });
    });

    test('a name and a password that the server cannot take are refused in its words', async () => {
      await tested.withSession(async (session) => {
        await expect(tested.create(session, 'a b')).rejects.toThrow('illegal characters');
        const short = { type: 'password', password: 'short' } as const;
        const request = { username: 'v-short', credential: short, expiresAt, statements: none, rollback: none, signal: signal() };
        await expect(session.createUser(request)).rejects.toThrow('A password must be at least 8 characters');
      });
    });

    test('a rotation whose answer was lost can be repeated with the same password', async () => {
      await tested.withSession(async (session) => {
        await tested.create(session, 'rotated');
        for (let time = 1; time <= 2; time++) {
          await session.updateUser({ username: 'rotated', credential: next, statements: none, signal: signal() });
        }
        await tested.login('rotated', next.password);
        await expect(tested.login('rotated', password)).rejects.toThrow('unauthorized');
        await tested.remove(session, 'rotated');
      });
    });

    test('the user of the connection changes its own password, and the session says that its own is no longer good', async () => {
      await tested.withSession((session) => tested.create(session, 'manager'));
      const manager = { username: 'manager', password };
      await tested.withSession(async (session) => {
        await session.updateUser({ username: 'manager', credential: next, statements: none, signal: signal() });
        await expect(session.verify(signal())).rejects.toMatchObject({ code: 'verification_failed', login: 'credential' });
      }, manager);
      await tested.verify({ ...manager, password: next.password });
      await tested.withSession((session) => tested.remove(session, 'manager'));
    });

    test('a password that must be changed first is distinguished from one that is wrong', async () => {
      await tested.withSession(async (session) => {
        await tested.create(session, 'v-first', ['CREATE USER {{name}} SET PASSWORD {{password}} CHANGE REQUIRED']);
        await expect(tested.verify({ username: 'v-first', password })).rejects.toMatchObject({
          login: 'barred',
          message: expect.stringContaining('demands that this user change its password first'),
        });
        await tested.remove(session, 'v-first');
      });
    });

    test('removing or disabling a user ends its open sessions; without that, the server lets them go on', async () => {
      await tested.withSession(async (session) => {
        await tested.create(session, 'v-open');
        const staying = await stayConnected('v-open');
        await tested.remove(session, 'v-open');
        await expect(ask(staying, 'neo4j')).resolves.toBe(1);
        await tested.remove(session, 'v-open', true);
        await expect(ask(staying, 'neo4j')).rejects.toThrow();
        await staying.close();

        await tested.create(session, 'v-disabled');
        const other = await stayConnected('v-disabled');
        await session.disableUser!({ username: 'v-disabled', signal: signal() });
        await expect(ask(other, 'neo4j')).rejects.toThrow();
        await other.close();
        await tested.remove(session, 'v-disabled');
      });
    });

    test('tls_ca: the certificate must be of that authority and for that name, and its copy on disk is removed', async () => {
      const before = authorityFolders();
      const { port } = tested.front;
      const named = { connection_url: `bolt+s://localhost:${port}`, tls_ca: tested.ca.certificate };
      await tested.verify(named);
      await expect(tested.verify({ ...named, connection_url: `bolt+s://127.0.0.1:${port}` })).rejects.toThrow(
        /certificate is not trusted: .*ALTNAME/,
      );
      await expect(tested.verify({ ...named, tls_ca: createTestCa().certificate })).rejects.toMatchObject({
        login: 'unreachable',
        message: expect.stringContaining("the server's certificate is not trusted"),
      });
      await expect(tested.verify({ connection_url: named.connection_url })).rejects.toThrow(/certificate/);
      await expect(tested.verify({ ...named, connection_url: `bolt+s://localhost:${tested.server.port}` })).rejects.toMatchObject({
        login: 'unreachable',
      });
      expect(authorityFolders()).toEqual(before);
    });

    test('connection_url: neo4j:// asks the server for the way, and a server that is not there is named', async () => {
      await tested.verify({ connection_url: `neo4j://127.0.0.1:${tested.server.port}` });
      await expect(tested.verify({ connection_url: 'bolt://127.0.0.1:1' })).rejects.toMatchObject({
        login: 'unreachable',
        message: expect.stringMatching(/^error verifying connection: no answer from bolt:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/),
      });
    });

    test('a statement that was given up is not carried out later', async () => {
      const { proxy } = tested;
      await tested.withSession(
        async (session) => {
          const controller = new AbortController();
          const commands = ['CREATE USER {{name}} SET PASSWORD {{password}} CHANGE NOT REQUIRED // kept-back'];
          const request = { username: 'v-late', credential, expiresAt, statements: { commands }, rollback: none };
          const creating = session.createUser({ ...request, signal: controller.signal });
          while (!proxy.received().includes('v-late')) await new Promise(setImmediate);
          controller.abort(new Error('deadline'));
          await expect(creating).rejects.toThrow('deadline');
          await session.verify(signal());
          expect(await tested.users()).not.toContain('v-late');
        },
        { connection_url: `bolt://127.0.0.1:${proxy.port}` },
      );
    });

    test('preview shows exactly what is sent', async () => {
      const statements = { commands: [`CREATE USER \`{{name}}\` SET PASSWORD '{{password}}' CHANGE NOT REQUIRED`] };
      const preview = neo4jPlugin.preview!({ username: 'v-shown', credential, statements, expiresAt });
      expect(preview).toEqual([`CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED {"name":"v-shown","password":"${password}"}`]);
      await tested.withSession(
        async (session) => {
          await tested.create(session, 'v-shown', statements.commands);
          expect(tested.proxy.received().toString()).toContain('CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED');
          await tested.remove(session, 'v-shown');
        },
        { connection_url: `bolt://127.0.0.1:${tested.proxy.port}` },
      );
    });
  });
}
