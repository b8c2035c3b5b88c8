import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import type { DatabaseSession } from '@strongroom/database-sdk';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, CREATION, mountDatabase, pass, usersOf } from './database-mount.ts';

// The machine may be busy with other suites, and two thousand rotations are each proven by two logins.
jest.setTimeout(300_000);

/** How many rotations the database is asked for at a time, at most. */
function countingPlugin(): { plugin: typeof postgresqlPlugin; most: () => number; made: () => number } {
  let now = 0;
  let most = 0;
  let made = 0;
  const plugin: typeof postgresqlPlugin = {
    ...postgresqlPlugin,
    open: async (config, host) => {
      const session = await postgresqlPlugin.open(config, host);
      const updateUser: DatabaseSession['updateUser'] = async (request) => {
        now += 1;
        most = Math.max(most, now);
        try {
          await session.updateUser(request);
          made += 1;
        } finally {
          now -= 1;
        }
      };
      return Object.assign(Object.create(session) as DatabaseSession, bound(session), { updateUser });
    },
  };
  return { plugin, most: () => most, made: () => made };
}

/** The session's methods, so that they can be called on another object. */
function bound(session: DatabaseSession): Partial<DatabaseSession> {
  return {
    verify: async (signal) => session.verify(signal),
    createUser: async (request) => session.createUser(request),
    renewUser: async (request) => session.renewUser?.(request),
    deleteUser: async (request) => session.deleteUser(request),
    pool: () => session.pool!(),
    close: async () => session.close(),
  };
}

describe('a database that is down for an hour', () => {
  const ROLES = 40;
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  afterEach(async () => mount.close());

  test('nothing is lost: what fell due shows meanwhile, and is done afterwards, a few at a time and once each', async () => {
    const counting = countingPlugin();
    mount = await mountDatabase({ plugins: [counting.plugin] });
    await mount.write('config/pg', connectionTo(server));
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '20m' });
    for (let i = 0; i < ROLES; i += 1) {
      await server.query(`CREATE ROLE st${i} LOGIN PASSWORD 'of-old'`);
      await mount.write(`static-roles/st${i}`, { db_name: 'pg', username: `st${i}`, rotation_period: '10h', first_rotation_offset: '15m' });
    }
    const passwordOf = async (i: number) => ((await mount.read(`static-creds/st${i}`)).data as { password: string }).password;
    const before = await Promise.all(Array.from({ length: ROLES }, async (_, i) => passwordOf(i)));
    for (let i = 0; i < 5; i += 1) await mount.read('creds/app');
    const leases = async () =>
      ((await mount.call('list', 'sys/leases/lookup/database/creds/app')).data as { keys: string[] } | null)?.keys ?? [];

    await server.halt();
    await mount.advance('30m');
    // Half-way: every overdue rotation shows, with when it is tried next, and its credential is the old one.
    const failing = (await mount.read('failing')).data as {
      static_roles: Record<string, { state: string; next_attempt: string; last_error: { message: string } | null }>;
      connections: Record<string, { reason: string }>;
    };
    const tried = Object.values(failing.static_roles);
    expect(tried.length).toBeGreaterThanOrEqual(5);
    for (const status of tried) {
      expect(status.state).toBe('failing');
      expect(Date.parse(status.next_attempt)).toBeGreaterThan(mount.clock.millis());
      expect(status.last_error!.message).toContain('database "pg"');
    }
    expect(failing.connections['pg']!.reason).toContain('failures in a row');
    for (let i = 0; i < ROLES; i += 1) {
      const { status } = (await mount.read(`static-roles/st${i}`)).data as { status: { next_attempt: string | null } };
      // What waits behind the open circuit has a time too.
      expect(Date.parse(status.next_attempt!)).toBeGreaterThan(mount.clock.millis());
    }
    expect(await leases()).toHaveLength(5);
    await mount.advance('30m');
    expect(await leases()).toHaveLength(5);
    const asked = counting.made();

    await server.restart();
    await pass(mount, 900, 10);
    expect(counting.made() - asked).toBe(ROLES);
    expect(counting.most()).toBeLessThanOrEqual(16);
    for (let i = 0; i < ROLES; i += 1) {
      const password = await passwordOf(i);
      expect(password).not.toBe(before[i]);
      expect(await server.login(`st${i}`, password)).toBe(`st${i}`);
    }
    expect((await mount.read('failing')).data).toEqual({ static_roles: {}, root_rotations: {}, connections: {} });
    expect(await leases()).toEqual([]);
    expect((await usersOf(server)).filter((name) => name.startsWith('v-'))).toEqual([]);
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
  });

  // How long that takes by the clock on the wall is for the bench to say.
  test('a thousand static roles that fall due in the same second are all rotated, and creds are served all the while', async () => {
    const many = 1_000;
    const { clock } = (mount = await mountDatabase());
    await clock.set(`${clock.now().toISOString().slice(0, 13)}:59:00Z`);
    await mount.write('config/pg', connectionTo(server));
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '1h' });
    for (let from = 0; from < many; from += 50) {
      await server.query(Array.from({ length: 50 }, (_, i) => `CREATE ROLE many${from + i} LOGIN PASSWORD 'of-old'`).join(';'));
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) =>
          mount.write(`static-roles/many${from + i}`, { db_name: 'pg', username: `many${from + i}`, rotation_schedule: '0 * * * *' }),
        ),
      );
    }
    const rotatedAt = async (name: string) =>
      Date.parse(((await mount.read(`static-roles/${name}`)).data as { last_vault_rotation: string }).last_vault_rotation);
    const left = new Set(Array.from({ length: many }, (_, i) => `many${i}`));
    await mount.advance('59s');
    const due = clock.millis() + 1_000;

    let over = false;
    const served: number[] = [];
    const borrower = async (): Promise<void> => {
      while (!over) {
        const { status } = await mount.call('read', 'database/creds/app');
        expect(status).toBe(200);
        served.push(left.size);
      }
    };
    const borrowers = [borrower(), borrower()];
    for (let rounds = 0; left.size > 0 && rounds < 60; rounds += 1) {
      await mount.advance(1);
      // A round that has found so many still due has no more to learn: the reads would take longer than the rotations.
      let waiting = 0;
      for (const name of left) {
        if ((await rotatedAt(name)) >= due) left.delete(name);
        else if ((waiting += 1) === 100) break;
      }
    }
    over = true;
    await Promise.all(borrowers);
    expect(left.size).toBe(0);
    // While rotations were still to be made, credentials were: at every stage of the work, not only at its end.
    const during = served.filter((remaining) => remaining > 0);
    expect(during.length).toBeGreaterThan(20);
    for (let i = 0; i < many; i += 97) {
      const { password } = (await mount.read(`static-creds/many${i}`)).data as { password: string };
      expect(await server.login(`many${i}`, password)).toBe(`many${i}`);
    }
  });
});
