import { describe, expect, test } from '@jest/globals';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { loggingHost, usual, withSession as inSession } from '@strongroom/database-testkit';
import { opensearchPlugin } from '../../src/index.ts';
import type { TestedServer } from './tested-server.ts';

const host = loggingHost();
const { signal } = usual;
const PASSWORD = 'Kx7-first-password-qW';
const NEXT = 'Kx8-second-password-qW';
const none = { commands: [] };

export function sessionSuite(tested: TestedServer): void {
  describe('a session', () => {
    const asRoot = async (path: string, init?: Parameters<TestedServer['ask']>[2]): ReturnType<TestedServer['ask']> =>
      tested.ask([tested.server.superuser, tested.server.password], path, init);
    const user = async (name: string): Promise<Record<string, unknown>> =>
      (await asRoot(`/api/internalusers/${encodeURIComponent(name)}`))[name] as Record<string, unknown>;
    const withSession = async (
      work: (session: DatabaseSession) => Promise<void>,
      login: { readonly username?: string; readonly password?: string } = {},
    ): Promise<void> => inSession(async () => opensearchPlugin.open({ ...tested.config(), ...login }, host), work);
    const create = async (session: DatabaseSession, username: string, statement: string, password = PASSWORD): Promise<void> =>
      session.createUser({
        username,
        credential: { type: 'password', password },
        expiresAt: new Date(),
        statements: { commands: [statement] },
        rollback: none,
        signal: signal(),
      });
    const rotate = async (session: DatabaseSession, username: string, password: string): Promise<void> =>
      session.updateUser({ username, credential: { type: 'password', password }, statements: none, signal: signal() });
    const remove = async (session: DatabaseSession, username: string): Promise<void> =>
      session.deleteUser({ username, statements: none, signal: signal() });

    test('a rotation keeps roles and attributes', async () => {
      await withSession(async (session) => {
        await create(session, 'v-rotated', '{"backend_roles":["readall"],"attributes":{"team":"a"},"description":"d"}');
        await rotate(session, 'v-rotated', NEXT);
        expect(await user('v-rotated')).toMatchObject({
          backend_roles: ['readall'],
          attributes: { team: 'a', made_by: 'strongroom' },
          description: 'd',
        });
        await tested.ask(['v-rotated', NEXT], '/authinfo');
        await expect(tested.ask(['v-rotated', PASSWORD], '/authinfo')).rejects.toThrow('401');
        await remove(session, 'v-rotated');
      });
    });

    test('a name with a slash is one name', async () => {
      await withSession(async (session) => {
        await create(session, 'v-a/b', '{"backend_roles":["readall"]}');
        await tested.ask(['v-a/b', PASSWORD], '/authinfo');
        await remove(session, 'v-a/b');
        await expect(user('v-a/b')).rejects.toThrow('404');
      });
    });

    test('a role of its own goes with its user, and a role of somebody else stays', async () => {
      await withSession(async (session) => {
        const definition = { cluster_permissions: ['cluster_composite_ops_ro'], index_permissions: [] };
        await create(session, 'v-own', JSON.stringify({ role_definition: definition }));
        expect((await asRoot('/api/roles/v-own'))['v-own']).toMatchObject(definition);
        expect((await asRoot('/api/rolesmapping/v-own'))['v-own']).toMatchObject({ users: ['v-own'] });
        await remove(session, 'v-own');
        await expect(asRoot('/api/roles/v-own')).rejects.toThrow('404');
        await expect(asRoot('/api/rolesmapping/v-own')).rejects.toThrow('404');
        await asRoot('/api/roles/v-theirs', { method: 'PUT', body: JSON.stringify(definition) });
        await create(session, 'v-theirs', '{}');
        await remove(session, 'v-theirs');
        await asRoot('/api/roles/v-theirs');
        await asRoot('/api/roles/v-theirs', { method: 'DELETE' });
      });
    });

    test('a creation that fails half-way leaves no role and no mapping', async () => {
      await withSession(async (session) => {
        const statement = '{"role_definition":{"cluster_permissions":[]},"opendistro_security_roles":["absent"]}';
        await expect(create(session, 'v-half', statement)).rejects.toThrow("role 'absent' not found.");
        await expect(asRoot('/api/roles/v-half')).rejects.toThrow('404');
        await expect(asRoot('/api/rolesmapping/v-half')).rejects.toThrow('404');
      });
    });

    test('an existing user is not replaced', async () => {
      await withSession(async (session) => {
        await create(session, 'v-once', '{"backend_roles":["readall"]}');
        await expect(create(session, 'v-once', '{}', NEXT)).rejects.toThrow('"v-once" already exists');
        expect(await user('v-once')).toMatchObject({ backend_roles: ['readall'] });
        await remove(session, 'v-once');
      });
    });

    test('a weak password is refused with what helps', async () => {
      await withSession(async (session) => {
        await expect(create(session, 'v-weak', '{}', 'abc')).rejects.toThrow(/Weak password.*password_policy/);
        await expect(user('v-weak')).rejects.toThrow('404');
      });
    });

    test('a reserved user is not changed, and the error says so', async () => {
      await withSession(async (session) => {
        await expect(rotate(session, 'admin', NEXT)).rejects.toThrow(/Resource 'admin' is reserved.*use another user/);
      });
    });

    test('a user without rights passes verification, is logged, and changes its own password', async () => {
      await withSession(async (session) => create(session, 'v-self', '{"backend_roles":["readall"]}'));
      await withSession(
        async (session) => {
          await session.verify(signal());
          expect(host.logged.join()).toContain('cannot manage users');
          await expect(rotate(session, 'v-other', NEXT)).rejects.toThrow('No permission');
          await rotate(session, 'v-self', NEXT);
        },
        { username: 'v-self', password: PASSWORD },
      );
      await tested.ask(['v-self', NEXT], '/authinfo');
      await withSession(async (session) => remove(session, 'v-self'));
    });

    test('a user who cannot be removed yet loses login and roles; an absent one is fine', async () => {
      await withSession(async (session) => {
        await create(session, 'v-off', '{"backend_roles":["readall"]}');
        await session.disableUser!({ username: 'v-off', signal: signal() });
        await expect(tested.ask(['v-off', PASSWORD], '/authinfo')).rejects.toThrow('401');
        expect(await user('v-off')).toMatchObject({ backend_roles: [] });
        await remove(session, 'v-off');
        await session.disableUser!({ username: 'v-off', signal: signal() });
      });
    });

    test('users are listed whoever made them, so that one whose attributes were replaced is still found', async () => {
      await withSession(async (session) => {
        await create(session, 'v-marked', '{"attributes":{"made_by":"somebody"}}');
        expect(await user('v-marked')).toMatchObject({ attributes: { made_by: 'strongroom' } });
        await asRoot('/api/internalusers/v-marked', { method: 'PUT', body: JSON.stringify({ password: PASSWORD }) });
        await asRoot('/api/internalusers/v-theirs', { method: 'PUT', body: JSON.stringify({ password: PASSWORD }) });
        const listed = await session.listUsers!({ prefix: 'v-', signal: signal() });
        expect([...listed].sort()).toEqual(['v-marked', 'v-theirs']);
        for (const name of listed) await remove(session, name);
      });
    });

    test('changes of several clients at the same time all succeed, although the server refuses those that meet', async () => {
      const names = Array.from({ length: 4 }, (_, index) => `v-client-${index}`);
      const each = (work: (session: DatabaseSession, name: string) => Promise<void>): Promise<unknown> =>
        Promise.all(names.map((name) => withSession(async (session) => work(session, name))));
      await each(async (session, name) => create(session, name, '{}'));
      await Promise.all(names.map((name) => tested.ask([name, PASSWORD], '/authinfo')));
      await each(remove);
    });

    test('a password that resembles the name of the user is refused with what helps', async () => {
      await withSession(async (session) => {
        await expect(create(session, 'v-similar-name', '{}', 'v-similar-name-kX4-qW')).rejects.toThrow(
          /similar to user name.*password_policy/,
        );
      });
    });

    test.each([
      ['nonsense', 'a statement is not valid JSON'],
      ['[]', 'must be a JSON object'],
      ['{"roles":["readall"]}', 'unknown field "roles"'],
      ['{"backend_roles":"readall"}', 'backend_roles must be a list of names'],
      ['{"attributes":{"a":1}}', 'attributes must be an object of texts'],
      ['{"role_definition":[]}', 'role_definition must be an object'],
      ['', 'empty creation statements'],
    ])('the statement %j is refused before anything is sent', async (statement, text) => {
      await withSession(async (session) => expect(create(session, 'v-bad', statement)).rejects.toThrow(text));
    });

    test.each(['a:b', '.', '..', ''])('the name %j is refused before anything is sent', async (name) => {
      await withSession(async (session) => expect(create(session, name, '{}')).rejects.toThrow('cannot be the name of a user'));
    });
  });
}
