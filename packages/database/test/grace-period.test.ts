import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import type { DatabaseHost, DatabasePlugin, DatabaseSession } from '@strongroom/database-sdk';
import type { KillableMount, TestMount } from '@strongroom/engine-testkit';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { redisPlugin, valkeyPlugin } from '@strongroom/database-redis';
import {
  describeWhere,
  describeWithMariadb,
  findMysql,
  findValkey,
  type MariadbServer,
  type PostgresServer,
  redisMissing,
  startMariadb,
  startMysql,
  startPostgres,
  startRedis,
} from '@strongroom/lab';
import { connectionTo, mountDatabase, pass } from './database-mount.ts';
import { killableDatabase } from './killable-database.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Creds {
  readonly password: string;
  readonly previous?: { readonly username: string; readonly valid_until: string };
}

/** A server that keeps two passwords of a user, and the user `app` with the password `of-old`. */
interface Keeper {
  readonly plugin: DatabasePlugin;
  readonly connection: Record<string, unknown>;
  makeUser(): Promise<void>;
  dropUser(): Promise<void>;
  /** Rejects where the password is refused. */
  login(password: string): Promise<unknown>;
  stop(): Promise<void>;
}

async function mysqlKeeper(): Promise<Keeper> {
  const server = await startMysql();
  return {
    plugin: mysqlPlugin as unknown as DatabasePlugin,
    connection: {
      plugin_name: 'mysql-database-plugin',
      connection_url: `{{username}}:{{password}}@tcp(${server.host}:${server.port})/`,
      username: server.superuser,
      password: server.password,
    },
    makeUser: async () => void (await server.query(`CREATE USER app@'%' IDENTIFIED BY 'of-old'`)),
    dropUser: async () => void (await server.query('DROP USER IF EXISTS app')),
    login: async (password) => server.login('app', password),
    stop: async () => server.stop(),
  };
}

const quiet = (): void => undefined;
const pluginHost: DatabaseHost = { now: () => new Date(), log: { debug: quiet, info: quiet, warn: quiet, error: quiet } };

async function redisKeeper(plugin: typeof redisPlugin, options: Parameters<typeof startRedis>[0] = {}): Promise<Keeper> {
  const server = await startRedis(options);
  const signal = AbortSignal.timeout(600_000);
  const as = async (username: string, password: string, work: (session: DatabaseSession) => Promise<unknown>): Promise<unknown> => {
    const session = await plugin.open({ host: '127.0.0.1', port: server.port, username, password }, pluginHost);
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  };
  const manage = async (work: (session: DatabaseSession) => Promise<unknown>) => void (await as('default', server.password, work));
  const user = { username: 'app', signal };
  const none = { commands: [] };
  const made = { credential: { type: 'password', password: 'of-old' } as const, expiresAt: new Date(), rollback: none };
  return {
    plugin: plugin as unknown as DatabasePlugin,
    connection: { plugin_name: plugin.name, host: '127.0.0.1', port: server.port, username: 'default', password: server.password },
    makeUser: async () => manage(async (session) => session.createUser({ ...user, ...made, statements: { commands: ['["+@read"]'] } })),
    dropUser: async () => manage(async (session) => session.deleteUser({ ...user, statements: none })),
    login: async (password) => as('app', password, async (session) => session.verify(signal)),
    stop: async () => server.stop(),
  };
}

const [mysql, valkey] = [await findMysql(), await findValkey()];
const valkeyProgram = { program: join('folder' in valkey ? valkey.folder : '', 'run'), words: ['/usr/bin/valkey-server'] };
const keepers: readonly [name: string, missing: string | undefined, start: () => Promise<Keeper>][] = [
  ['MySQL', 'missing' in mysql ? mysql.missing : undefined, mysqlKeeper],
  ['Redis', redisMissing, async () => redisKeeper(redisPlugin)],
  ['Valkey', 'missing' in valkey ? valkey.missing : undefined, async () => redisKeeper(valkeyPlugin, valkeyProgram)],
];

const role = { db_name: 'db', username: 'app', rotation_period: '24h', grace_period: '1h' };

for (const [name, missing, start] of keepers) {
  describeWhere(missing, `the grace period of a static role of ${name}`, () => {
    let keeper: Keeper;
    beforeAll(async () => {
      keeper = await start();
    }, 120_000);
    afterAll(async () => keeper?.stop());
    beforeEach(async () => keeper.makeUser());
    afterEach(async () => keeper.dropUser());

    describe('on a server that goes on', () => {
      let mount: TestMount;
      const write = async (data: Record<string, unknown>, path = 'static-roles/app') => {
        const { status, errors, warnings } = await mount.call('update', `database/${path}`, { data });
        return [status, ...(errors ?? []), ...(warnings ?? [])].join();
      };
      const creds = async () => (await mount.read('static-creds/app')).data as Creds;
      const refused = async (password: string) => expect(keeper.login(password)).rejects.toThrow();
      beforeEach(async () => {
        mount = await mountDatabase({ plugins: [keeper.plugin] });
        await mount.write('config/db', { ...keeper.connection, allowed_roles: '*' });
      });
      afterEach(async () => mount.close());

      test('the password before the creation logs in until the grace ends, and is refused after', async () => {
        expect(await write(role)).toBe('204');
        const { password, previous } = await creds();
        await keeper.login(password);
        await keeper.login('of-old');
        const { last_vault_rotation } = (await mount.read('static-roles/app')).data as { last_vault_rotation: string };
        expect(previous).toEqual({ username: 'app', valid_until: new Date(Date.parse(last_vault_rotation) + 3_600_000).toISOString() });
        await pass(mount, 3_540);
        await keeper.login('of-old');
        await pass(mount, 120);
        await refused('of-old');
        await keeper.login(password);
        expect(await creds()).toEqual(expect.not.objectContaining({ previous: expect.anything() }));
        expect((await mount.read('static-roles/app')).data).toMatchObject({
          grace_period: 3_600,
          status: { state: 'waiting', last_error: null },
        });
      });

      test('the password that the plan has replaced logs in for the grace, and no longer', async () => {
        await write({ ...role, rotation_period: '2h' });
        const first = await creds();
        await pass(mount, 7_260);
        const second = await creds();
        expect(second.password).not.toBe(first.password);
        for (const { password } of [first, second]) await keeper.login(password);
        await pass(mount, 3_600);
        await refused(first.password);
        await keeper.login(second.password);
      });

      test('a second rotation within the grace ends the oldest password at once, and says so', async () => {
        await write(role);
        const first = await creds();
        expect(await write({}, 'rotate-role/app')).toMatch(/^200,the password before the one that this rotation has replaced .* ended now/);
        const second = await creds();
        await refused('of-old');
        for (const { password } of [first, second]) await keeper.login(password);
        await pass(mount, 3_660);
        await refused(first.password);
        await keeper.login(second.password);
      });

      test('without a grace period the rotation ends the password, and a grace period that is taken away still ends what is left', async () => {
        await write({ ...role, grace_period: 0 });
        await refused('of-old');
        const first = await creds();
        expect(first).not.toHaveProperty('previous');
        expect(await write({ username: 'app', grace_period: '1h' })).toBe('204');
        expect(await write({}, 'rotate-role/app')).toBe('204');
        await keeper.login(first.password);
        expect(await write({ username: 'app', grace_period: 0 })).toBe('204');
        await keeper.login(first.password);
        await pass(mount, 3_660);
        await refused(first.password);
        await keeper.login((await creds()).password);
      });

      test('the deletion of a role within the grace warns of the password that still logs in', async () => {
        await write(role);
        const { warnings } = await mount.call('delete', 'database/static-roles/app');
        expect(warnings!.join()).toContain('the password of "app" before the last rotation still logs in');
      });

      test.each([
        [{ grace_period: '25h' }, /^400,grace_period \(90000 s\) is longer than rotation_period \(86400 s\)/],
        [{ grace_period: '-1s' }, /^400,.*grace_period/],
        [{ username: undefined, usernames: ['app', 'other'] }, /^400,grace_period: the users of a pair take turns/],
        [{ rotation_statements: ["x '{{password}}'"] }, /^400,grace_period: the plugin makes the statements/],
      ])('%j is a 400, and the user keeps its password', async (sent, refusal) => {
        expect(await write({ ...role, ...sent })).toMatch(refusal);
        expect((await mount.call('read', 'database/static-roles/app')).status).toBe(404);
        await keeper.login('of-old');
      });
    });

    describe('on a server that dies', () => {
      let server: KillableMount;
      let closeSessions: () => Promise<void>;
      beforeEach(async () => {
        ({ server, closeSessions } = await killableDatabase(keeper.plugin));
        await server.ask('update', 'database/config/db', { ...keeper.connection, allowed_roles: '*' });
        expect((await server.ask('update', 'database/static-roles/app', role)).status).toBe(204);
        await server.pass(3_720);
      });
      afterEach(async () => {
        server.storage.die();
        await closeSessions();
      });
      const password = async () => ((await server.ask('read', 'database/static-creds/app')).data as unknown as Creds).password;

      test.each([0, 1, 2])(
        'during a rotation, after %i commits: the password that is answered and the one before log in, and the grace ends on time',
        async (commits) => {
          const before = await password();
          server.storage.dieAfter(commits);
          await server.diesIn(server.ask('update', 'database/rotate-role/app'));
          server = await server.restart();
          await keeper.login(await password());
          await keeper.login(before);
          await server.pass(240);
          const after = await password();
          await keeper.login(after);
          await keeper.login(before);
          await server.pass(3_720);
          await keeper.login(after);
          if (commits === 0) expect(after).toBe(before);
          else await expect(keeper.login(before)).rejects.toThrow();
        },
      );

      test.each([0, 1])('when the grace ends, after %i commits: the old password ends after the restart', async (commits) => {
        const before = await password();
        expect((await server.ask('update', 'database/rotate-role/app')).status).toBe(204);
        await server.pass(3_480);
        await keeper.login(before);
        server.storage.dieAfter(commits);
        await server.diesIn(server.pass(240));
        server = await server.restart();
        await server.pass(240);
        await expect(keeper.login(before)).rejects.toThrow();
        await keeper.login(await password());
      });
    });
  });
}

const onePassword =
  /^400,grace_period: a user of the database of the connection "db" has one password at a time; make the role with usernames/;

describe('a grace period of a user who has one password', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query(`CREATE ROLE app LOGIN PASSWORD 'of-old'`);
    mount = await mountDatabase();
    await mount.write('config/db', connectionTo(server));
  }, 60_000);
  afterAll(async () => {
    await mount?.close();
    await server?.stop();
  });

  test('is refused by PostgreSQL with a 400 that suggests a pair, at creation and later, and nothing is changed', async () => {
    const write = async (data: Record<string, unknown>) => {
      const { status, errors } = await mount.call('update', 'database/static-roles/app', { data });
      return [status, ...(errors ?? [])].join();
    };
    expect(await write(role)).toMatch(onePassword);
    expect(await server.login('app', 'of-old')).toBe('app');
    expect(await write({ ...role, grace_period: 0 })).toBe('204');
    expect(await write({ username: 'app', grace_period: '1h' })).toMatch(onePassword);
    expect((await mount.read('static-roles/app')).data).not.toHaveProperty('grace_period');
  });
});

describeWithMariadb('a grace period of a user of MariaDB, by the plugin that MySQL has', () => {
  let server: MariadbServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startMariadb();
    await server.query(`CREATE USER app@'%' IDENTIFIED BY 'of-old'`);
    mount = await mountDatabase({ plugins: [mysqlPlugin] });
  }, 60_000);
  afterAll(async () => {
    await mount?.close();
    await server?.stop();
  });

  test('is refused with a 400 that suggests a pair, and with the server down with a 500 that names the connection', async () => {
    const connection_url = `{{username}}:{{password}}@tcp(${server.host}:${server.port})/`;
    const login = { username: server.superuser, password: server.password };
    await mount.write('config/db', { plugin_name: 'mysql-database-plugin', allowed_roles: '*', connection_url, ...login });
    const write = async () => {
      const { status, errors } = await mount.call('update', 'database/static-roles/app', { data: role });
      return [status, ...(errors ?? [])].join();
    };
    expect(await write()).toMatch(onePassword);
    expect(await server.login('app', 'of-old')).toContain('app');
    await server.stop();
    expect(await write()).toMatch(/^500,.*database "db"/s);
  });
});
