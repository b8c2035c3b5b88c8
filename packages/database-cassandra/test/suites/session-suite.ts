import { describe, expect, test } from '@jest/globals';
import { cassandraPlugin } from '../../src/index.ts';
import { credential, password, signal, SLOW, type TestedServer } from './tested-server.ts';

const none = { commands: [] };

export function sessionSuite(tested: TestedServer): void {
  describe('a Cassandra session', () => {
    test('creation_statements: without any, the user logs in and is no superuser', async () => {
      await tested.withSession((session) => tested.create(session, 'plain'));
      await tested.login('plain', password);
      expect(await tested.asRoot('LIST ROLES OF plain')).toMatchObject([{ role: 'plain', super: false, login: true }]);
    });

    test('creation_statements: several in one text are run in order, values stay in their quotes', async () => {
      const name = `we ird"; DROP ROLE cassandra; -- /* $$`;
      await tested.withSession(async (session) => {
        const creation = `CREATE USER '{{name}}' WITH PASSWORD '{{password}}' NOSUPERUSER; GRANT SELECT ON ALL KEYSPACES TO "{{username}}"`;
        await tested.create(session, name, [creation]);
        expect(await tested.roles()).toEqual(expect.arrayContaining([name, 'cassandra']));
        expect(await tested.asRoot(`LIST ALL OF "we ird""; DROP ROLE cassandra; -- /* $$"`)).toMatchObject([{ permission: 'SELECT' }]);
        await session.deleteUser({ username: name, statements: none, signal: signal() });
        expect(await tested.roles()).not.toContain(name);
      });
    });

    test('a name with a single quote, which servers put unescaped into statements of their own, is refused', async () => {
      const name = `o'brien`;
      await tested.withSession(async (session) => {
        await expect(tested.create(session, name)).rejects.toMatchObject({ code: 'statement_invalid' });
        expect(await tested.roles()).not.toContain(name);
      });
      expect(() => cassandraPlugin.preview!({ username: name, credential, statements: none, expiresAt: new Date() })).toThrow(
        'single quote',
      );
    });

    test('creation_statements that say nothing are refused', async () => {
      await tested.withSession((session) => expect(tested.create(session, 'x', [' ; '])).rejects.toThrow(/^empty creation statements$/));
    });

    test('rollback_statements run when creation fails half-way, and the user is gone in any case', async () => {
      const creation = [`CREATE USER '{{name}}' WITH PASSWORD '{{password}}'`, `GRANT SELECT ON KEYSPACE absent TO '{{name}}'`];
      await tested.withSession(async (session) => {
        await expect(tested.create(session, 'halfway', creation, [`CREATE ROLE 'trace_of_{{name}}'`])).rejects.toMatchObject({
          code: 'statement_failed',
          serverCode: '0x2200',
          message: expect.stringContaining('failed to execute query: ') as unknown,
        });
        const roles = await tested.roles();
        expect(roles).not.toContain('halfway');
        expect(roles).toContain('trace_of_halfway');
        await expect(tested.create(session, 'halfway', creation, ['BOGUS'])).rejects.toThrow('failed to execute query');
        expect(await tested.roles()).not.toContain('halfway');
        expect(tested.logged.join('\n')).toContain('rollback statements failed');
      });
    });

    test('a user who existed before is unchanged by a creation that fails', async () => {
      await tested.asRoot(`CREATE USER taken WITH PASSWORD 'its own'`);
      await tested.withSession((session) =>
        expect(tested.create(session, 'taken')).rejects.toThrow('failed to execute query: taken already exists'),
      );
      await tested.login('taken', 'its own');
    });

    test('rotation_statements replace the default, and an unknown user is an error', async () => {
      await tested.withSession(async (session) => {
        await tested.create(session, 'rotated');
        const next = { type: 'password', password: 'Next-1234567890abcdef' } as const;
        const commands = [`ALTER ROLE '{{username}}' WITH PASSWORD = '{{password}}'; GRANT SELECT ON ALL KEYSPACES TO '{{name}}'`];
        await session.updateUser({ username: 'rotated', credential: next, statements: { commands }, signal: signal() });
        await tested.login('rotated', next.password);
        expect(await tested.asRoot('LIST ALL OF rotated')).toMatchObject([{ permission: 'SELECT' }]);
        const unknown = session.updateUser({ username: 'nobody', credential, statements: none, signal: signal() });
        await expect(unknown).rejects.toThrow("failed to execute query: Role nobody doesn't exist");
      });
    });

    test('revocation_statements replace the default, and an absent user is a success with them too', async () => {
      const commands = [`REVOKE ALL ON ALL KEYSPACES FROM '{{name}}'; DROP USER '{{username}}'`];
      const remove = (session: Parameters<typeof tested.create>[0], username: string, commands: string[]) =>
        session.deleteUser({ username, statements: { commands }, signal: signal() });
      await tested.withSession(async (session) => {
        await tested.create(session, 'revoked');
        await remove(session, 'revoked', commands);
        expect(await tested.roles()).not.toContain('revoked');
        await remove(session, 'revoked', commands);
        await tested.create(session, 'kept');
        await expect(remove(session, 'kept', [`DROP USER 'somebody else'`])).rejects.toThrow("doesn't exist");
        await remove(session, 'kept', [' ']);
        expect(await tested.roles()).not.toContain('kept');
      });
    });

    test('a user that the manager may not list is not mistaken for one that is gone', async () => {
      await tested.asRoot(`CREATE USER manager WITH PASSWORD 'first-password'`);
      for (const permission of ['CREATE', 'ALTER']) await tested.asRoot(`GRANT ${permission} ON ALL ROLES TO manager`);
      await tested.asRoot(`CREATE USER protected WITH PASSWORD 'x'`);
      const manager = { username: 'manager', password: 'first-password' };
      await tested.withSession(async (session) => {
        expect(await session.listUsers!({ prefix: 'protected', signal: signal() })).toEqual([]);
        await expect(session.deleteUser({ username: 'protected', statements: none, signal: signal() })).rejects.toMatchObject({
          code: 'statement_failed',
          serverCode: '0x2100',
        });
        const next = { type: 'password', password: 'second-password' } as const;
        await session.updateUser({ username: 'manager', credential: next, statements: none, signal: signal() });
        await expect(session.verify(signal())).rejects.toThrow('password are incorrect');
      }, manager);
      await tested.verify({ ...manager, password: 'second-password' });
    });

    test('the managing user needs no more permissions than the documentation says', async () => {
      await tested.asRoot(`CREATE USER least WITH PASSWORD 'least-password'`);
      for (const permission of ['CREATE', 'ALTER', 'DROP', 'AUTHORIZE', 'DESCRIBE']) {
        await tested.asRoot(`GRANT ${permission} ON ALL ROLES TO least`);
      }
      for (const permission of ['SELECT', 'AUTHORIZE']) await tested.asRoot(`GRANT ${permission} ON ALL KEYSPACES TO least`);
      tested.logged.length = 0;
      await tested.withSession(
        async (session) => {
          await session.verify(signal());
          const creation = `CREATE USER '{{name}}' WITH PASSWORD '{{password}}' NOSUPERUSER; GRANT SELECT ON ALL KEYSPACES TO '{{name}}'`;
          await tested.create(session, 'made', [creation]);
          await session.updateUser({ username: 'made', credential, statements: none, signal: signal() });
          expect(await session.listUsers!({ prefix: 'made', signal: signal() })).toEqual(['made']);
          await session.deleteUser({ username: 'made', statements: none, signal: signal() });
          expect(await tested.roles()).not.toContain('made');
        },
        { username: 'least', password: 'least-password' },
      );
      expect(tested.logged).toEqual([]);
    });

    test('listUsers gives those who log in and whose names begin with a prefix', async () => {
      await tested.withSession(async (session) => {
        for (const name of ['v_token_1', 'v_token_2']) await tested.create(session, name);
        await tested.asRoot('CREATE ROLE v_token_group');
        expect([...(await session.listUsers!({ prefix: 'v_token_', signal: signal() }))].sort()).toEqual(['v_token_1', 'v_token_2']);
        expect(await session.listUsers!({ prefix: '', signal: signal() })).toContain('cassandra');
      });
    });

    test('a statement that is given up does not hold up those of others', async () => {
      await tested.withSession(
        async (session) => {
          await session.verify(signal());
          const controller = new AbortController();
          const stuck = session.deleteUser({ username: SLOW, statements: none, signal: controller.signal });
          while (!tested.proxy.received().includes(SLOW)) await new Promise((resolve) => setImmediate(resolve));
          controller.abort(new Error('deadline passed'));
          await expect(stuck).rejects.toThrow('deadline passed');
          await session.listUsers!({ prefix: '', signal: signal() });
        },
        { port: tested.proxy.port },
      );
    });

    test('preview shows exactly what is sent', async () => {
      const request = { username: 'shown', credential, expiresAt: new Date() };
      const preview = cassandraPlugin.preview!({ ...request, statements: none });
      expect(preview).toEqual([`CREATE USER 'shown' WITH PASSWORD '${password}' NOSUPERUSER`]);
      await tested.withSession((session) => tested.create(session, 'shown'), { port: tested.proxy.port });
      expect(tested.proxy.received().toString('latin1')).toContain(preview[0]!);
    });
  });
}
