import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { VerificationFailed, type DatabaseHost, type UpdateUserRequest } from '@strongroom/database-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { connectionTo, mountDatabase, pass } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Status {
  readonly state: string;
  readonly login?: string;
  readonly last_error: { readonly message: string } | null;
}

/** Holds the placeholder, and changes nothing. */
const IDLE = `SELECT length('{{password}}')`;

describe('a static rotation is proven by a login', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const write = async (path: string, data: Record<string, unknown> = {}) => {
    const { status, errors, warnings } = await mount.call('update', `database/${path}`, { data });
    return [status, ...(errors ?? []), ...(warnings ?? [])].join();
  };
  const role = { db_name: 'pg', username: 'fixed', rotation_period: '10m' };
  const passwordOf = async () => ((await mount.read('static-creds/st')).data as { password: string }).password;
  const statusOf = async () => ((await mount.read('static-roles/st')).data as { status: Status }).status;
  /** However many tries that takes on a busy machine. */
  const untilState = async (state: string): Promise<void> => {
    for (let tries = 0; tries < 10 && (await statusOf()).state !== state; tries += 1) await pass(mount, 300);
    expect((await statusOf()).state).toBe(state);
  };
  /** The database ends while the rotation's statement waits in it: whether that took effect is not known. */
  const rotateIntoOutage = async (): Promise<void> => {
    const holding = server.query('BEGIN; ALTER ROLE fixed CONNECTION LIMIT 9; SELECT pg_sleep(600)').catch(() => undefined);
    const started = async (condition: string) => (await server.query(`SELECT 1 FROM pg_stat_activity WHERE ${condition}`)).length > 0;
    while (!(await started(`wait_event = 'PgSleep'`)));
    const rotating = mount.advance('11m');
    while (!(await started(`wait_event_type = 'Lock'`)));
    await server.halt();
    await Promise.all([holding, rotating]);
  };
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => {
    await mount.close();
    await server.restart();
    await server.query('DROP ROLE fixed');
  });

  test('statements that change nothing keep the password that works, and are a 500 that says so', async () => {
    await mount.write('static-roles/st', role);
    const password = await passwordOf();
    await mount.write('static-roles/st', { username: 'fixed', rotation_statements: [IDLE] });
    expect(await write('rotate-role/st')).toMatch(
      /^500,.*the change was acknowledged, but the old credential is still the one that is taken/s,
    );
    expect(await passwordOf()).toBe(password);
    expect(await server.login('fixed', password)).toBe('fixed');
    await pass(mount, 1_200);
    expect(await passwordOf()).toBe(password);
    await mount.write('static-roles/st', { username: 'fixed', rotation_statements: [] });
    await mount.write('rotate-role/st');
    expect(await passwordOf()).not.toBe(password);
    expect(await server.login('fixed', await passwordOf())).toBe('fixed');
  });

  test('statements without {{password}} are refused', async () => {
    expect(await write('static-roles/st', { ...role, rotation_statements: ['SELECT 1'] })).toContain('400,rotation_statements: ');
    expect(await server.login('fixed', 'of-old')).toBe('fixed');
  });

  test('a user that may not log in for other reasons is rotated, since no login can tell', async () => {
    await server.query('ALTER ROLE fixed NOLOGIN');
    expect(await write('static-roles/st', role)).toBe('204');
    expect((await statusOf()).login).toBe('inconclusive');
    await server.query('ALTER ROLE fixed LOGIN');
    expect(await server.login('fixed', await passwordOf())).toBe('fixed');
  });

  test('during an outage nothing is said of a credential that was not tried', async () => {
    await mount.write('static-roles/st', role);
    await server.halt();
    await mount.advance('11m');
    const status = await statusOf();
    expect(status).toMatchObject({ state: 'failing', login: 'unreachable' });
    expect(status.last_error!.message).not.toContain('neither');
    await server.restart();
    await pass(mount, 900);
    const settled = await statusOf();
    expect(settled).toMatchObject({ state: 'waiting', last_error: null });
    // Absent: a login is accepted.
    expect(settled.login).toBeUndefined();
  });

  test.each(['written', 'deleted and made again'])(
    'while the outcome of a rotation is open, another address requires sudo: %s',
    async (way) => {
      await mount.write('static-roles/st', role);
      const policy = 'path "database/config/pg" { capabilities = ["create", "update", "delete"] }';
      await mount.call('update', 'sys/policies/acl/operator', { data: { policy } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['operator'] } })).auth!.client_token;
      const moved = { ...connectionTo(server), tls_server_name: 'other', verify_connection: false };
      const move = async (as?: string) => {
        const { status, errors } = await mount.call('update', 'database/config/pg', {
          data: moved,
          ...(as === undefined ? {} : { token: as }),
        });
        return [status, ...(errors ?? [])].join();
      };
      await rotateIntoOutage();
      await untilState('failing');
      if (way !== 'written') expect((await mount.call('delete', 'database/config/pg', { token })).status).toBe(200);
      expect(await move(token)).toMatch(/^400,.*tls_server_name: .*static role "st", whose rotation is not finished.*sudo/);
      if (way !== 'written') await mount.write('config/pg', { ...connectionTo(server), verify_connection: false });
      await server.restart();
      await untilState('waiting');
      expect(await move(token)).toMatch(/^20[04]/);
    },
  );

  test('with the database down the creation of a role is a 500, and nothing is stored or changed later', async () => {
    await server.halt();
    expect(await write('static-roles/st', role)).toMatch(/^500,.*database "pg": error setting credentials/s);
    expect((await mount.call('read', 'database/static-roles/st')).status).toBe(404);
    await server.restart();
    await pass(mount, 300);
    expect((await mount.call('read', 'database/static-roles/st')).status).toBe(404);
    expect(await server.login('fixed', 'of-old')).toBe('fixed');
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
  });

  test('with the database down creds are a 500, and nothing is left to undo', async () => {
    await mount.write('roles/app', { db_name: 'pg', creation_statements: [`CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}'`] });
    await server.halt();
    expect((await mount.call('read', 'database/creds/app')).status).toBe(500);
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
    await server.restart();
  });

  test('a connection that was certainly not made stores nothing', async () => {
    await server.halt();
    expect(await write('config/new', connectionTo(server))).toContain('400,error creating database object: error verifying connection');
    expect((await mount.call('read', 'database/config/new')).status).toBe(404);
    await server.restart();
  });
});

describe('a static rotation of a user that the connection does not log in as by that name', () => {
  test('is stored as what was acknowledged, since a refused login says nothing', async () => {
    const passwords = new Map<string, string>();
    const { plugin } = faultyDatabase();
    const elsewhere = {
      ...plugin,
      canonicalUser: ({ username, statements }: { username: string; statements: { commands: readonly string[] } }) =>
        `${statements.commands[0] ?? 'own'}.${username}`,
      open: async (config: { host: string; username?: string; password?: string }, host: DatabaseHost) => ({
        ...(await plugin.open(config, host)),
        verify: async () => {
          if (config.username !== 'root' && passwords.get(`own.${config.username}`) !== config.password)
            throw new VerificationFailed('bad password', { login: 'credential' });
        },
        updateUser: async ({ username, statements, credential }: UpdateUserRequest) => {
          const password = credential.type === 'password' ? credential.password : '';
          passwords.set(`${statements.commands[0] ?? 'own'}.${username}`, password);
        },
      }),
    };
    const mount = await mountForTest(databaseEngine, { plugins: [elsewhere] });
    await mount.write('config/db', { plugin_name: plugin.name, host: 'h', username: 'root', password: 'geheim', allowed_roles: '*' });
    const role = { db_name: 'db', username: 'u', rotation_period: '1h' };
    await mount.write('static-roles/own', role);
    await mount.write('static-roles/other', { ...role, rotation_statements: ['app'] });
    const read = async (name: string) => ({
      login: ((await mount.read(`static-roles/${name}`)).data as { status: Status }).status.login,
      password: ((await mount.read(`static-creds/${name}`)).data as { password: string }).password,
    });
    expect(await read('own')).toEqual({ login: undefined, password: passwords.get('own.u') });
    expect(await read('other')).toEqual({ login: 'inconclusive', password: passwords.get('app.u') });
    await mount.close();
  });
});
