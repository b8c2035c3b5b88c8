import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { connectionTo, CREATION, mountWithRole, usersOf } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const SECONDS = Math.floor(Date.now() / 1_000);
const STRAY = `v-token-app-GiSbsEuVnksX5Jw0oTuG-${SECONDS}`;
const OTHER = `v-root-gone-X5Jw0oTuGGiSbsEuVnks-${SECONDS - 900}`;

describe('orphans/:name', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    for (const name of await usersOf(server)) await server.query(`DROP ROLE "${name}"`);
    mount = await mountWithRole(server, { plugins: [postgresqlPlugin, faultyDatabase().plugin] });
  });
  afterEach(async () => mount.close());

  const make = async (...names: string[]) => {
    for (const name of names) await server.query(`CREATE ROLE "${name}" LOGIN PASSWORD 'x'`);
  };
  const orphans = async (name = 'pg') => ((await mount.read(`orphans/${name}`)).data as { usernames: string[] }).usernames;
  const ask = async (operation: 'update' | 'delete', data: Record<string, unknown>) => {
    const { status, data: answer, errors } = await mount.call(operation, 'database/orphans/pg', { data });
    return { status, answer, errors };
  };

  test('GET lists the users that bear a name of ours and that nobody has to do with', async () => {
    await make(STRAY, OTHER);
    expect(await orphans()).toEqual([OTHER, STRAY].sort());
    const answer = await mount.read('orphans/pg');
    expect(answer.data).toMatchObject({ templates: [expect.stringContaining('printf "v-%s-%s-%s-%s"')] });
    expect(answer.warnings!.join()).toContain('another server');
  });

  test('GET takes nobody for an orphan whom somebody has to do with, or who was named by a person', async () => {
    await make('v-app-reporting', 'v-boss', `v-fixed-app-aB3dEfGhIjKlMnOpQrSt-${SECONDS}`, `v-root-user-zY3dEfGhIjKlMnOpQrSt-${SECONDS}`);
    await server.query(`ALTER ROLE "v-root-user-zY3dEfGhIjKlMnOpQrSt-${SECONDS}" SUPERUSER`);
    // A lease, a lease of another connection to the same database, and of another mount.
    await mount.read('creds/app');
    await mount.write('config/twin', connectionTo(server));
    await mount.write('roles/twin', { db_name: 'twin', creation_statements: CREATION });
    await mount.read('creds/twin');
    await mount.call('update', 'sys/mounts/second', { data: { type: 'database' } });
    await mount.call('update', 'second/config/pg', { data: connectionTo(server) });
    await mount.call('update', 'second/roles/app', { data: { db_name: 'pg', creation_statements: CREATION } });
    await mount.call('read', 'second/creds/app');
    // Users of a static role, and of a connection itself.
    await mount.write('static-roles/st', { db_name: 'pg', username: `v-fixed-app-aB3dEfGhIjKlMnOpQrSt-${SECONDS}`, rotation_period: '1h' });
    await mount.write(
      'config/root',
      connectionTo(server, { verify_connection: false, username: `v-root-user-zY3dEfGhIjKlMnOpQrSt-${SECONDS}` }),
    );
    // A connection that is gone, with its lease.
    await mount.delete('config/twin');
    expect(await usersOf(server)).toHaveLength(7);
    expect(await orphans()).toEqual([]);
  });

  test('a user whose lease was dropped by force is one, and so is one of a role that is gone', async () => {
    const { data } = await mount.read('creds/app');
    await mount.read('creds/app');
    await mount.delete('roles/app');
    await mount.call('update', 'sys/leases/revoke-force/database/creds/app');
    // The database was there, so that they are gone; without it they stay.
    expect(await orphans()).toEqual([]);
    await mount.write('roles/app', {
      db_name: 'pg',
      creation_statements: CREATION,
      revocation_statements: 'DROP ROLE "no such role {{name}}"',
    });
    await mount.read('creds/app');
    await mount.call('update', 'sys/leases/revoke-force/database/creds/app');
    const [left] = await orphans();
    expect(left).toMatch(/^v-root-app-/);
    expect(left).not.toBe((data as { username: string }).username);
    await mount.write('roles/app', { revocation_statements: [] });
    expect(await ask('update', { all: true })).toMatchObject({ status: 200, answer: { removed: [left], pending: {} } });
    expect(await usersOf(server)).toEqual([]);
  });

  test('POST and DELETE remove those that are named, once and again, and nobody else', async () => {
    await make(STRAY, OTHER, 'v-app-reporting');
    const { data } = await mount.read('creds/app');
    const { username } = data as { username: string };
    expect(await ask('update', { usernames: [STRAY] })).toMatchObject({ status: 200, answer: { removed: [STRAY], gone: [], pending: {} } });
    expect(await ask('update', { usernames: [STRAY] })).toMatchObject({ status: 200, answer: { removed: [], gone: [STRAY], pending: {} } });
    for (const name of ['v-app-reporting', username, 'postgres']) {
      const refused = await ask('update', { usernames: [OTHER, name] });
      expect(refused).toMatchObject({ status: 400, errors: [expect.stringContaining(`"${name}\\" is no orphan`.replace('\\', ''))] });
    }
    expect((await usersOf(server)).sort()).toEqual(['v-app-reporting', username, OTHER].sort());
    expect(await ask('delete', { usernames: OTHER })).toMatchObject({ status: 200, answer: { removed: [OTHER] } });
    expect(await ask('delete', { all: 'true' })).toMatchObject({ status: 200, answer: { removed: [], gone: [], pending: {} } });
    expect((await usersOf(server)).sort()).toEqual(['v-app-reporting', username].sort());
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
  });

  test('what cannot be removed says why, and the journal removes it later', async () => {
    await make(STRAY, OTHER);
    await server.query(`CREATE TABLE public.theirs (id int); ALTER TABLE public.theirs OWNER TO "${STRAY}"`);
    const { answer } = await ask('update', { all: true });
    expect(answer).toMatchObject({ removed: [OTHER], pending: { [STRAY]: expect.stringContaining('cannot be dropped') } });
    await server.query('DROP TABLE public.theirs');
    for (let i = 0; i < 30; i += 1) await mount.advance('20s');
    expect(await usersOf(server)).toEqual([]);
  });

  test('GET, POST and DELETE need the capability sudo besides', async () => {
    await make(STRAY);
    const tokenWith = async (name: string, capabilities: string) => {
      await mount.call('update', `sys/policies/acl/${name}`, {
        data: { policy: `path "database/orphans/*" { capabilities = [${capabilities}] }` },
      });
      return (await mount.call('update', 'auth/token/create', { data: { policies: [name] } })).auth!.client_token;
    };
    const plain = await tokenWith('plain', '"create", "read", "update", "delete"');
    for (const operation of ['read', 'update', 'delete'] as const) {
      expect((await mount.call(operation, 'database/orphans/pg', { token: plain, data: { all: true } })).status).toBe(403);
    }
    expect(await usersOf(server)).toEqual([STRAY]);
    const sudo = await tokenWith('mighty', '"read", "update", "sudo"');
    expect((await mount.call('read', 'database/orphans/pg', { token: sudo })).status).toBe(200);
    const removal = await mount.call('update', 'database/orphans/pg', { token: sudo, data: { all: true } });
    expect(removal.data).toMatchObject({ removed: [STRAY] });
  });

  test('POST asks for names or for all, not for both and not for neither', async () => {
    const text = 'give either usernames, those to remove, or all=true';
    expect(await ask('update', {})).toMatchObject({ status: 400, errors: [text] });
    expect(await ask('update', { usernames: [STRAY], all: true })).toMatchObject({ status: 400, errors: [text] });
  });

  test('says so where names cannot be told, and where the plugin lists no users', async () => {
    const { status, errors } = await mount.call('read', 'database/orphans/none');
    expect([status, ...errors!].join()).toContain('failed to find entry for connection');
    await mount.write('config/memory', { plugin_name: 'faulty-database-plugin', host: 'h' });
    const unlisted = await mount.call('read', 'database/orphans/memory');
    expect([unlisted.status, ...unlisted.errors!].join()).toMatch(/^400.*does not list users/s);
    // A template of the operator's that tells nothing; the plugin's own still does.
    await mount.write('config/plain', connectionTo(server, { username_template: 'app-{{ .RoleName }}' }));
    await make(STRAY, 'app-app');
    expect(await orphans('plain')).toEqual([STRAY]);
  });
});
