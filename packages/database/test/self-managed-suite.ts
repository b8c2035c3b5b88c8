import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { redisPlugin } from '@strongroom/database-redis';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import type { KillableMount, TestMount } from '@strongroom/engine-testkit';
import { mountDatabase, pass } from './database-mount.ts';
import { killableDatabase } from './killable-database.ts';

/** A server with a user `app` that has no rights beside its own login. */
export interface SelfManagedServer {
  readonly plugin: DatabasePlugin;
  /** Settings that say where the server is. */
  readonly address: Readonly<Record<string, string>>;
  /** What the write of a connection is answered with: 204, unless its plugin has something to say of all its users. */
  readonly written?: RegExp;
  /** Makes the user, or gives it this password. */
  setPassword(password: string): Promise<void>;
  dropUser(): Promise<void>;
  login(password: string): Promise<unknown>;
  stop(): Promise<void>;
}

const role = { db_name: 'db', username: 'app', rotation_period: '24h', self_managed_password: 'kept-Before-7Qz' };

/** Static roles on a self-managed connection to the server that `start` starts. */
export function describeSelfManaged(name: string, start: () => Promise<SelfManagedServer>): void {
  describe(`a user of ${name} that changes its own password`, () => {
    let server: SelfManagedServer;
    beforeAll(async () => {
      server = await start();
    }, 120_000);
    afterAll(async () => server?.stop());
    beforeEach(async () => server.setPassword('kept-Before-7Qz'));
    afterEach(async () => server.dropUser());
    const connection = () => ({ plugin_name: server.plugin.name, allowed_roles: '*', ...server.address, self_managed: true });
    const written = () => server.written ?? /^204$/;
    const refused = async (password: string) => expect(server.login(password)).rejects.toThrow();

    describe('on a server that goes on', () => {
      let mount: TestMount;
      const write = async (data: Record<string, unknown>, path = 'static-roles/app') => {
        const { status, errors, warnings } = await mount.call('update', `database/${path}`, { data });
        return [status, ...(errors ?? []), ...(warnings ?? [])].join();
      };
      const password = async () => ((await mount.read('static-creds/app')).data as { password: string }).password;
      beforeEach(async () => {
        mount = await mountDatabase({ plugins: [server.plugin, redisPlugin] });
        expect(await write(connection(), 'config/db')).toMatch(written());
      });
      afterEach(async () => mount.close());

      test('is rotated at creation, on demand and by its plan, without a user that manages it', async () => {
        expect(await write(role)).toBe('204');
        const first = await password();
        await server.login(first);
        await refused('kept-Before-7Qz');
        expect(await write({}, 'rotate-role/app')).toBe('204');
        const second = await password();
        await server.login(second);
        await refused(first);
        for (let hour = 0; hour < 25; hour += 1) await pass(mount, 3_600, 1_800);
        const third = await password();
        expect(third).not.toBe(second);
        await server.login(third);
      });

      test('is imported as it is with skip_import_rotation, and shows its password nowhere but in static-creds', async () => {
        expect(await write({ ...role, skip_import_rotation: true })).toBe('204');
        expect(await password()).toBe('kept-Before-7Qz');
        const { data } = await mount.read('static-roles/app');
        expect(data).toMatchObject({ self_managed: true });
        expect(JSON.stringify(data)).not.toContain('kept-Before-7Qz');
        expect(await write({}, 'rotate-role/app')).toBe('204');
        await server.login(await password());
        await refused('kept-Before-7Qz');
      });

      test('whose password was changed outside is refused until the new one is sent, and nothing is lost', async () => {
        await write(role);
        const known = await password();
        await server.setPassword('set-Outside-9Rt');
        const refusal = await write({}, 'rotate-role/app');
        expect(refusal).toMatch(/^500,.*database "db"/s);
        expect(refusal).not.toContain(known);
        expect(await password()).toBe(known);
        expect(await write({ username: 'app', self_managed_password: 'wrong-7Hy' })).toMatch(
          /^400,self_managed_password: the database does not take it for the user "app"/,
        );
        expect(await write({ username: 'app', self_managed_password: 'set-Outside-9Rt' })).toBe('204');
        expect(await password()).toBe('set-Outside-9Rt');
        expect(await write({}, 'rotate-role/app')).toBe('204');
        await server.login(await password());
        await refused('set-Outside-9Rt');
      });

      test.each([
        [{ self_managed_password: undefined }, /^400,self_managed_password: the connection "db" is self_managed/],
        [{ self_managed_password: '' }, /^400,self_managed_password: it is empty/],
        [{ self_managed_password: 'wrong-7Hy' }, /^400,self_managed_password: the database does not take it for the user "app"/],
        [{ grace_period: '1h' }, /^400,grace_period: a user that changes its own password/],
        [{ username: undefined, usernames: ['app', 'other'] }, /^400,usernames: a user that changes its own password/],
        [{ password: 'kept-Before-7Qz', skip_import_rotation: true }, /^400,password: self_managed_password says it already/],
        [{ rotation_statements: [`ALTER {{nonsense}} '{{password}}'`] }, /^400,/],
      ])('%j is a 400 that shows no password, and no role is stored', async (sent, refusal) => {
        const answer = await write({ ...role, ...sent });
        expect(answer).toMatch(refusal);
        expect(answer).not.toMatch(/wrong-7Hy|kept-Before-7Qz/);
        expect((await mount.call('read', 'database/static-roles/app')).status).toBe(404);
        await server.login('kept-Before-7Qz');
      });

      test('needs a connection that has no user of its own, and that one serves nothing else', async () => {
        expect(await write({ username: 'root' }, 'config/db')).toMatch(/^400,self_managed: .*leave out username/);
        expect((await mount.read('config/db')).data).toMatchObject({ self_managed: true });
        const statements = [`CREATE USER "{{name}}" PASSWORD '{{password}}'`];
        expect(await write({ db_name: 'db', creation_statements: statements }, 'roles/dynamic')).toMatch(/^400,db_name: .*is self_managed/);
        expect(await write({}, 'rotate-root/db')).toMatch(/^400,/);
        const redis = { plugin_name: 'redis-database-plugin', host: '127.0.0.1', self_managed: true };
        expect(await write(redis, 'config/cache')).toMatch(/^400,self_managed: users of redis-database-plugin do not/);
        expect(await write({ ...connection(), self_managed: false, username: 'app', password: 'kept-Before-7Qz' }, 'config/own')).toMatch(
          written(),
        );
        expect(await write({ ...role, db_name: 'own' })).toMatch(/^400,self_managed_password: the connection "own" is not self_managed/);
      });

      test('a new address is refused without sudo, and the password of a role is not sent to another server with it', async () => {
        await write(role);
        const known = await password();
        const policy = 'path "database/config/*" { capabilities = ["create", "update"] }';
        await mount.call('update', 'sys/policies/acl/writer', { data: { policy } });
        const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
        const [[field, url]] = Object.entries(server.address) as [[string, string]];
        const data = { [field]: url.replace(/:\d+(?=[/)]|$)/, ':1') };
        const { errors } = await mount.call('update', 'database/config/db', { data, token });
        expect(errors!.join()).toContain(`self_managed: the passwords of static roles would be sent to what is new (${field})`);
        expect(await write(data, 'config/db')).toMatch(written());
        expect(await write({}, 'rotate-role/app')).toMatch(/^400,.*leads to another server than that of the user/s);
        await server.login(known);
      });
    });

    describe('on a server that dies', () => {
      let mount: KillableMount;
      let closeSessions: () => Promise<void>;
      beforeEach(async () => {
        ({ server: mount, closeSessions } = await killableDatabase(server.plugin));
        await mount.ask('update', 'database/config/db', connection());
      });
      afterEach(async () => {
        mount.storage.die();
        await closeSessions();
      });
      const password = async () => ((await mount.ask('read', 'database/static-creds/app')).data as { password: string }).password;

      test.each([0, 1, 2])(
        'during a rotation, after %i commits: the password that is answered logs in, at once and later',
        async (commits) => {
          expect((await mount.ask('update', 'database/static-roles/app', role)).status).toBe(204);
          mount.storage.dieAfter(commits);
          expect(await mount.diesIn(mount.ask('update', 'database/rotate-role/app'))).toBe(commits < 2);
          mount = await mount.restart();
          await server.login(await password());
          await mount.pass(240);
          await server.login(await password());
          expect((await mount.ask('update', 'database/rotate-role/app')).status).toBe(204);
          await server.login(await password());
        },
      );

      test.each([0, 1, 2, 3])('during a creation, after %i commits: the password is known, here or where it was', async (commits) => {
        mount.storage.dieAfter(commits);
        expect(await mount.diesIn(mount.ask('update', 'database/static-roles/app', role))).toBe(commits < 3);
        mount = await mount.restart();
        await mount.pass(240);
        if (commits === 0) await server.login('kept-Before-7Qz');
        else {
          await server.login(await password());
          await refused('kept-Before-7Qz');
        }
      });
    });
  });
}
