import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import type { KillableMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, CREATION, usersOf } from './database-mount.ts';
import { killableDatabase } from './killable-database.ts';

/** More commits than any of these operations makes: the last round of each runs through. */
const ROUNDS = [0, 1, 2, 3, 4, 5];

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('a server that dies in the middle', () => {
  let database: PostgresServer;
  let server: KillableMount;
  let closeSessions: () => Promise<void>;
  beforeAll(async () => {
    database = await startPostgres();
  }, 60_000);
  afterAll(async () => database.stop());
  beforeEach(async () => {
    for (const name of await usersOf(database)) await database.query(`DROP ROLE "${name}"`);
    await database.query(`CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss-pw-first'`);
    await database.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
    ({ server, closeSessions } = await killableDatabase());
    await server.ask('update', 'database/config/pg', connectionTo(database, { username: 'boss', password: 'boss-pw-first' }));
    await server.ask('update', 'database/roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '1h' });
    const st = { db_name: 'pg', username: 'fixed', rotation_period: '24h' };
    expect((await server.ask('update', 'database/static-roles/st', st)).status).toBe(204);
  });

  afterEach(async () => {
    server.storage.die();
    await closeSessions();
  });

  const dynamicUsers = async () => (await usersOf(database)).filter((name) => name.startsWith('v-'));

  test.each(ROUNDS)('while a user is made, after %i commits: no user is left without a lease', async (commits) => {
    server.storage.dieAfter(commits);
    const died = await server.diesIn(server.ask('read', 'database/creds/app'));
    expect(died).toBe(commits < 2);
    server = await server.restart();
    const { data } = await server.ask('list', 'sys/leases/lookup/database/creds/app');
    const leases = (data as { keys: string[] } | null)?.keys ?? [];
    expect(leases).toHaveLength(died ? 0 : 1);
    expect(await dynamicUsers()).toHaveLength(commits === 0 ? 0 : 1);
    await server.pass(240);
    expect(await dynamicUsers()).toHaveLength(leases.length);
    await server.pass(3_600);
    expect(await dynamicUsers()).toEqual([]);
  });

  test.each(ROUNDS)('while a lease is revoked, after %i commits: the user goes all the same', async (commits) => {
    const { leaseId } = await server.ask('read', 'database/creds/app');
    server.storage.dieAfter(commits);
    const died = await server.diesIn(server.ask('update', 'sys/leases/revoke', { lease_id: leaseId, sync: true }));
    expect(died).toBe(commits < 2);
    server = await server.restart();
    await server.pass(commits === 0 ? 3_660 : 240);
    expect(await dynamicUsers()).toEqual([]);
    expect((await server.ask('update', 'sys/leases/lookup', { lease_id: leaseId })).status).toBe(400);
  });

  test.each(ROUNDS)(
    'while a static role is rotated, after %i commits: the password that is answered logs in, at once and later',
    async (commits) => {
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.ask('update', 'database/rotate-role/st'));
      expect(died).toBe(commits < 2);
      server = await server.restart();
      const logsIn = async () => {
        const { data, status } = await server.ask('read', 'database/static-creds/st');
        expect(status).toBe(200);
        expect(await database.login('fixed', (data as { password: string }).password)).toBe('fixed');
      };
      await logsIn();
      await server.pass(240);
      await logsIn();
      const { data } = await server.ask('read', 'database/static-roles/st');
      expect((data as { status: { state: string } }).status.state).toBe('waiting');
    },
  );

  test.each(ROUNDS)('while a static role is made, after %i commits: it is whole or not there', async (commits) => {
    await server.ask('delete', 'database/static-roles/st');
    server.storage.dieAfter(commits);
    const st = { db_name: 'pg', username: 'fixed', rotation_period: '24h' };
    const died = await server.diesIn(server.ask('update', 'database/static-roles/st', st));
    expect(died).toBe(commits < 2);
    server = await server.restart();
    await server.pass(240);
    const { data, status } = await server.ask('read', 'database/static-creds/st');
    if (commits === 0) expect(status).toBe(400);
    else expect(await database.login('fixed', (data as { password: string }).password)).toBe('fixed');
  });

  test.each(ROUNDS)('while the root password is rotated, after %i commits: the connection works, at once and later', async (commits) => {
    server.storage.dieAfter(commits);
    const died = await server.diesIn(server.ask('update', 'database/rotate-root/pg'));
    // One commit more than a static role's: the first rotation of a connection claims its account.
    expect(died).toBe(commits < 3);
    server = await server.restart();
    expect((await server.ask('read', 'database/creds/app')).status).toBe(200);
    await server.pass(240);
    expect((await server.ask('read', 'database/creds/app')).status).toBe(200);
    expect((await server.ask('update', 'database/reset/pg')).status).toBe(204);
    expect((await server.ask('read', 'database/config/pg')).data).toMatchObject({
      root_rotation: { state: 'idle', last_success: commits === 0 ? null : expect.any(String), last_error: null },
    });
  });

  test.each([0, 1, 2])(
    'while the root password is rotated by plan, after %i commits: the connection works, and the plan goes on',
    async (commits) => {
      expect((await server.ask('update', 'database/config/pg', { rotation_period: '10m' })).status).toBe(204);
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.pass(630));
      if (died) server = await server.restart();
      expect((await server.ask('read', 'database/creds/app')).status).toBe(200);
      await server.pass(630);
      const lastSuccess = async () => {
        const { data } = await server.ask('read', 'database/config/pg');
        return Date.parse((data as { root_rotation: { last_success: string } }).root_rotation.last_success);
      };
      const once = await lastSuccess();
      await server.pass(630);
      expect(await lastSuccess()).toBeGreaterThan(once);
      expect((await server.ask('update', 'database/reset/pg')).status).toBe(204);
      expect((await server.ask('read', 'database/creds/app')).status).toBe(200);
    },
  );

  test.each(ROUNDS)(
    'while a connection is made in the place of a deleted one, after %i commits: its leases are revoked by the next write',
    async (commits) => {
      const { leaseId } = await server.ask('read', 'database/creds/app');
      await database.query(`ALTER ROLE boss PASSWORD 'boss-pw-second'`);
      await server.ask('delete', 'database/config/pg');
      const again = connectionTo(database, { username: 'boss', password: 'boss-pw-second' });
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.ask('update', 'database/config/pg', again));
      expect(died).toBe(commits < 1);
      server = await server.restart();
      expect((await server.ask('update', 'database/config/pg', again)).status).toBe(204);
      expect((await server.ask('update', 'sys/leases/revoke', { lease_id: leaseId, sync: true })).status).toBe(204);
      expect(await dynamicUsers()).toEqual([]);
    },
  );

  test.each(ROUNDS)(
    'while a static role takes a user over, after %i commits: one role has it, and its password logs in',
    async (commits) => {
      const take = { db_name: 'pg', username: 'fixed', rotation_period: '24h', adopt: true };
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.ask('update', 'database/static-roles/taker', take));
      expect(died).toBe(commits < 2);
      server = await server.restart();
      await server.pass(240);
      const owner = commits === 0 ? 'st' : 'taker';
      const other = commits === 0 ? 'taker' : 'st';
      const { data } = await server.ask('read', `database/static-creds/${owner}`);
      expect(await database.login('fixed', (data as { password: string }).password)).toBe('fixed');
      const left = await server.ask('read', `database/static-roles/${other}`);
      if (commits === 0) expect(left.status).toBe(404);
      else expect((left.data as { status: { state: string } }).status.state).toBe('taken_over');
    },
  );
});
