import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DatabasePlugin, DatabaseSession } from '@strongroom/database-sdk';
import type { KillableMount } from '@strongroom/engine-testkit';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { describeWhere, findMysql, type MysqlServer, type PostgresServer, startMysql, startPostgres } from '@strongroom/lab';
import { connectionTo } from './database-mount.ts';
import { killableDatabase } from './killable-database.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Creds {
  readonly username: string;
  readonly password: string;
}

/** Runs once at the next change of a password: before it is made, or after. */
type Moment = 'before' | 'after';
type Watch = { at: Moment; die: () => void } | undefined;

/** A plugin whose sessions report the moment at which they change a password. */
function watched(plugin: DatabasePlugin, next: () => Watch): DatabasePlugin {
  const around =
    <R>(change: (request: R) => Promise<void>) =>
    async (request: R): Promise<void> => {
      const watch = next();
      if (watch?.at === 'before') {
        watch.die();
        throw new Error('the process is dead');
      }
      await change(request);
      watch?.die();
    };
  return {
    ...plugin,
    open: async (config, host) => {
      const session = await plugin.open(config, host);
      const { twoPasswords } = session;
      const changes: Partial<DatabaseSession> = {
        updateUser: around(session.updateUser.bind(session)),
        ...(session.changeOwnPassword ? { changeOwnPassword: around(session.changeOwnPassword.bind(session)) } : {}),
        ...(twoPasswords ? { twoPasswords: { ...twoPasswords, add: around(twoPasswords.add), end: around(twoPasswords.end) } } : {}),
      };
      return new Proxy(session, {
        get(target, name) {
          const value: unknown = name in changes ? changes[name as keyof DatabaseSession] : Reflect.get(target, name, target);
          return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
        },
      });
    },
  };
}

/** A server that dies at a change of a password. */
class Victim {
  server!: KillableMount;
  #watch: Watch;
  #closeSessions!: () => Promise<void>;

  async start(plugin: DatabasePlugin): Promise<void> {
    const next = (): Watch => {
      const watch = this.#watch;
      this.#watch = undefined;
      return watch;
    };
    ({ server: this.server, closeSessions: this.#closeSessions } = await killableDatabase(watched(plugin, next)));
  }

  /** Dies at the first change of a password in `work`, and is started again. */
  async dieAt(at: Moment, work: () => Promise<unknown>): Promise<void> {
    const { storage } = this.server;
    this.#watch = { at, die: () => storage.die() };
    expect(await this.server.diesIn(work())).toBe(true);
    expect(this.#watch).toBeUndefined();
    this.server = await this.server.restart();
  }

  async write(path: string, data: Record<string, unknown> = {}): Promise<void> {
    expect((await this.server.ask('update', `database/${path}`, data)).status).toBe(204);
  }

  async creds(): Promise<Creds> {
    const { data, status } = await this.server.ask('read', 'database/static-creds/app');
    expect(status).toBe(200);
    return data as unknown as Creds;
  }

  async stop(): Promise<void> {
    this.server.storage.die();
    await this.#closeSessions();
  }
}

const MOMENTS: readonly Moment[] = ['before', 'after'];

describe('a server that dies at the change of a password in PostgreSQL', () => {
  let database: PostgresServer;
  const victim = new Victim();
  beforeAll(async () => {
    database = await startPostgres();
  }, 60_000);
  afterAll(async () => database.stop());
  beforeEach(async () => {
    await database.query(`CREATE ROLE app_a LOGIN PASSWORD 'a-of-old'; CREATE ROLE app_b LOGIN PASSWORD 'b-of-old'`);
    await victim.start(postgresqlPlugin as unknown as DatabasePlugin);
  });
  afterEach(async () => {
    await victim.stop();
    await database.query('DROP ROLE app_a, app_b');
  });
  const logsIn = async ({ username, password }: Creds) => expect(await database.login(username, password)).toBe(username);

  test.each(MOMENTS)(
    '%s it is made for a pair: what is answered logs in at once and later, and so does what was answered before',
    async (at) => {
      await victim.write('config/pg', connectionTo(database));
      await victim.write('static-roles/app', { db_name: 'pg', usernames: ['app_a', 'app_b'], rotation_period: '24h' });
      const before = await victim.creds();
      await victim.dieAt(at, async () => victim.server.ask('update', 'database/rotate-role/app'));
      for (const creds of [before, await victim.creds()]) await logsIn(creds);
      await victim.server.pass(240);
      const after = await victim.creds();
      expect(after.username).toBe('app_a');
      for (const creds of [before, after]) await logsIn(creds);
    },
  );

  test.each(MOMENTS)('%s a user makes it by itself: what is answered logs in at once and later', async (at) => {
    const { connection_url, plugin_name } = connectionTo(database);
    await victim.write('config/pg', { connection_url, plugin_name, allowed_roles: '*', self_managed: true });
    const role = { db_name: 'pg', username: 'app_a', rotation_period: '24h', self_managed_password: 'a-of-old' };
    await victim.write('static-roles/app', role);
    const before = await victim.creds();
    await victim.dieAt(at, async () => victim.server.ask('update', 'database/rotate-role/app'));
    await logsIn(await victim.creds());
    await victim.server.pass(240);
    const after = await victim.creds();
    expect(after.password).not.toBe(before.password);
    await logsIn(after);
  });
});

const mysql = await findMysql();

describeWhere('missing' in mysql ? mysql.missing : undefined, 'a server that dies at the change of a password in MySQL', () => {
  let database: MysqlServer;
  const victim = new Victim();
  beforeAll(async () => {
    database = await startMysql();
  }, 120_000);
  afterAll(async () => database?.stop());
  beforeEach(async () => {
    await database.query(`CREATE USER app@'%' IDENTIFIED BY 'of-old'`);
    await victim.start(mysqlPlugin as unknown as DatabasePlugin);
    await victim.write('config/db', {
      plugin_name: 'mysql-database-plugin',
      allowed_roles: '*',
      connection_url: `{{username}}:{{password}}@tcp(${database.host}:${database.port})/`,
      username: database.superuser,
      password: database.password,
    });
    await victim.write('static-roles/app', { db_name: 'db', username: 'app', rotation_period: '24h', grace_period: '1h' });
    await victim.server.pass(3_720);
  });
  afterEach(async () => {
    await victim.stop();
    await database.query('DROP USER app');
  });

  test.each(MOMENTS)('%s it is made with a grace period: old and new log in, and the old one ends on time', async (at) => {
    const before = await victim.creds();
    await victim.dieAt(at, async () => victim.server.ask('update', 'database/rotate-role/app'));
    for (const { password } of [before, await victim.creds()]) await database.login('app', password);
    await victim.server.pass(240);
    const after = await victim.creds();
    expect(after.password).not.toBe(before.password);
    for (const { password } of [before, after]) await database.login('app', password);
    await victim.server.pass(3_720);
    await expect(database.login('app', before.password)).rejects.toThrow();
    await database.login('app', after.password);
  });

  test.each(MOMENTS)('%s the old password ends: it ends after the restart', async (at) => {
    const before = await victim.creds();
    await victim.write('rotate-role/app');
    await victim.server.pass(3_480);
    await database.login('app', before.password);
    await victim.dieAt(at, async () => victim.server.pass(240));
    await victim.server.pass(240);
    await expect(database.login('app', before.password)).rejects.toThrow();
    await database.login('app', (await victim.creds()).password);
  });
});
