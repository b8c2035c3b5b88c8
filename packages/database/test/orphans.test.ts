import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { connectionTo, CREATION, mountDatabase, mountWithRole, usersOf } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

async function copyOf(storage: StorageDriver): Promise<StorageDriver> {
  const copy = memoryStorage();
  await copy.commit({ put: await storage.range({}) });
  return copy;
}

/** A plugin whose names have no room for a mark. */
const shortNames = { ...postgresqlPlugin, name: 'short-names', usernameTemplate: 'app-{{ random 8 }}' };

describe('orphans/:name', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    for (const name of await usersOf(server)) await server.query(`DROP ROLE "${name}"`);
    mount = await mountWithRole(server, { plugins: [postgresqlPlugin, shortNames, faultyDatabase().plugin] });
  });
  afterEach(async () => mount.close());

  /** A name that the mount gives and does not record: what is in the database and not in a store that was restored from a backup. */
  const stray = async (): Promise<string> => ((await mount.write('roles/app/preview')).data as { username: string }).username;

  const make = async (...names: string[]) => {
    for (const name of names) await server.query(`CREATE ROLE "${name}" LOGIN PASSWORD 'x'`);
  };
  const orphans = async (name = 'pg') => ((await mount.read(`orphans/${name}`)).data as { usernames: string[] }).usernames;
  const ask = async (operation: 'update' | 'delete', data: Record<string, unknown>) => {
    const { status, data: answer, errors } = await mount.call(operation, 'database/orphans/pg', { data });
    return { status, answer, errors };
  };

  test('GET lists the users that carry the mark of the mount and that nothing keeps', async () => {
    const names = [await stray(), await stray()];
    await make(...names);
    expect(await orphans()).toEqual(names.sort());
    const answer = await mount.read('orphans/pg');
    expect(answer.data).toMatchObject({ templates: [expect.stringContaining('printf "v-%s-%s-%s-%s"')] });
    expect(answer.warnings!.join()).toContain('another server');
  });

  test('GET takes nobody for an orphan whom a record keeps, or who was named by a person', async () => {
    const [fixed, root] = [await stray(), await stray()];
    await make('v-app-reporting', 'v-boss', fixed, root);
    await server.query(`ALTER ROLE "${root}" SUPERUSER`);
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
    await mount.write('static-roles/st', { db_name: 'pg', username: fixed, rotation_period: '1h' });
    await mount.write('config/root', connectionTo(server, { verify_connection: false, username: root }));
    // A connection that is gone, with its lease.
    await mount.delete('config/twin');
    expect(await usersOf(server)).toHaveLength(7);
    expect(await orphans()).toEqual([]);
  });

  test('a name of the same shape without the mark of this mount belongs to somebody else', async () => {
    const here = await stray();
    await mount.call('update', 'sys/mounts/second', { data: { type: 'database' } });
    await mount.call('update', 'second/config/pg', { data: connectionTo(server) });
    await mount.call('update', 'second/roles/app', { data: { db_name: 'pg', creation_statements: CREATION } });
    const preview = await mount.call('update', 'second/roles/app/preview');
    const there = (preview.data as { username: string }).username;
    await make(here, there, 'v-token-app-GiSbsEuVnksX5Jw0oTuG-1795250515');
    expect(await orphans()).toEqual([here]);
    expect((await mount.call('read', 'second/orphans/pg')).data).toMatchObject({ usernames: [there] });
  });

  test('a user whose name carries no mark is one after its lease was revoked by force, since the mount has recorded it', async () => {
    await mount.write('config/short', connectionTo(server, { plugin_name: 'short-names' }));
    await mount.write('roles/app', { db_name: 'short', revocation_statements: 'DROP ROLE "no such role {{name}}"' });
    const { username } = (await mount.read('creds/app')).data as { username: string };
    await make('app-GiSbsEuV');
    expect(await orphans('short')).toEqual([]);
    await mount.call('update', 'sys/leases/revoke-force/database/creds/app');
    const answer = await mount.read('orphans/short');
    expect(answer.data).toEqual({ usernames: [username], templates: [] });
    expect(answer.warnings!.join()).toContain('too few for a mark');
  });

  test('a user that was created after the backup from which the store was restored is one', async () => {
    const storage = memoryStorage();
    const first = await mountWithRole(server, { storage });
    await first.read('creds/app');
    const backup = await copyOf(storage);
    const { username } = (await first.read('creds/app')).data as { username: string };
    expect((await first.read('orphans/pg')).data).toMatchObject({ usernames: [] });
    await first.close();
    const restored = await mountDatabase({ storage: backup });
    expect((await restored.read('orphans/pg')).data).toMatchObject({ usernames: [username] });
    await restored.close();
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
    const [unknown, another] = [await stray(), await stray()];
    await make(unknown, another, 'v-app-reporting');
    const { data } = await mount.read('creds/app');
    const { username } = data as { username: string };
    expect(await ask('update', { usernames: [unknown] })).toMatchObject({
      status: 200,
      answer: { removed: [unknown], gone: [], pending: {} },
    });
    expect(await ask('update', { usernames: [unknown] })).toMatchObject({
      status: 200,
      answer: { removed: [], gone: [unknown], pending: {} },
    });
    for (const name of ['v-app-reporting', username, 'postgres']) {
      const refused = await ask('update', { usernames: [another, name] });
      expect(refused).toMatchObject({ status: 400, errors: [expect.stringContaining(`"${name}\\" is no orphan`.replace('\\', ''))] });
    }
    expect((await usersOf(server)).sort()).toEqual(['v-app-reporting', username, another].sort());
    expect(await ask('delete', { usernames: another })).toMatchObject({ status: 200, answer: { removed: [another] } });
    expect(await ask('delete', { all: 'true' })).toMatchObject({ status: 200, answer: { removed: [], gone: [], pending: {} } });
    expect((await usersOf(server)).sort()).toEqual(['v-app-reporting', username].sort());
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
  });

  test('what cannot be removed says why, and the journal removes it later', async () => {
    const [unknown, another] = [await stray(), await stray()];
    await make(unknown, another);
    await server.query(`CREATE TABLE public.theirs (id int); ALTER TABLE public.theirs OWNER TO "${unknown}"`);
    const { answer } = await ask('update', { all: true });
    expect(answer).toMatchObject({ removed: [another], pending: { [unknown]: expect.stringContaining('cannot be dropped') } });
    await server.query('DROP TABLE public.theirs');
    for (let i = 0; i < 30; i += 1) await mount.advance('20s');
    expect(await usersOf(server)).toEqual([]);
  });

  test('GET, POST and DELETE need the capability sudo besides', async () => {
    const unknown = await stray();
    await make(unknown);
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
    expect(await usersOf(server)).toEqual([unknown]);
    const sudo = await tokenWith('mighty', '"read", "update", "sudo"');
    expect((await mount.call('read', 'database/orphans/pg', { token: sudo })).status).toBe(200);
    const removal = await mount.call('update', 'database/orphans/pg', { token: sudo, data: { all: true } });
    expect(removal.data).toMatchObject({ removed: [unknown] });
  });

  test('POST asks for names or for all, not for both and not for neither', async () => {
    const text = 'give either usernames, those to remove, or all=true';
    expect(await ask('update', {})).toMatchObject({ status: 400, errors: [text] });
    expect(await ask('update', { usernames: ['v-a'], all: true })).toMatchObject({ status: 400, errors: [text] });
  });

  test('says so where names cannot be recognized, and where the plugin lists no users', async () => {
    const { status, errors } = await mount.call('read', 'database/orphans/none');
    expect([status, ...errors!].join()).toContain('failed to find entry for connection');
    await mount.write('config/memory', { plugin_name: 'faulty-database-plugin', host: 'h' });
    const unlisted = await mount.call('read', 'database/orphans/memory');
    expect([unlisted.status, ...unlisted.errors!].join()).toMatch(/^400.*does not list users/s);
    // A template of the operator's that tells nothing; the plugin's own still does.
    await mount.write('config/plain', connectionTo(server, { username_template: 'app-{{ .RoleName }}' }));
    const unknown = await stray();
    await make(unknown, 'app-app');
    expect(await orphans('plain')).toEqual([unknown]);
  });
});
