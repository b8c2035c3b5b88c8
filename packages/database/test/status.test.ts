import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ConnectionLost, StatementFailed } from '@strongroom/database-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { mountWithRole } from './database-mount.ts';
import { faultyDatabase, type FaultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('GET config/:name/status', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  afterEach(async () => mount.close());

  test('shows the pool, the queue, the circuit and the root rotation of a connection in use', async () => {
    mount = await mountWithRole(server);
    expect((await mount.call('read', 'database/config/none/status')).status).toBe(404);
    await mount.write('config/pg', { max_open_connections: 2 });
    await mount.read('creds/app');
    expect((await mount.read('config/pg/status')).data).toEqual({
      plugin_name: 'postgresql-database-plugin',
      plugin_version: '0.1.0',
      state: 'ready',
      open: true,
      pool: { open: 1, idle: 1, waiting: 0, limit: 2 },
      queue: { under_way: 0, waiting: 0, limit: 256 },
      call_deadline: 45,
      circuit: { state: 'closed', failures: 0, threshold: 5, since: null, next_try: null },
      quarantine: null,
      last_error: null,
      root_rotation: { state: 'idle', attempts: 0, next_attempt: null, last_success: null, last_error: null },
    });
  });

  test('opens the circuit of a database that is gone, says what was wrong, and closes it when it is back', async () => {
    mount = await mountWithRole(server);
    await mount.read('creds/app');
    await server.halt();
    const ask = async () => mount.call('read', 'database/creds/app');
    for (let i = 0; i < 5; i += 1) expect((await ask()).status).toBe(500);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
    expect(refused.errors!.join()).toContain('"pg" failed 5 times in a row and its circuit breaker is open; try again in 5 s');
    const { data } = await mount.read('config/pg/status');
    expect(data).toMatchObject({
      state: 'left-alone',
      circuit: { state: 'open', failures: 5, since: expect.any(String), next_try: new Date(mount.clock.millis() + 5_000).toISOString() },
      last_error: { message: expect.stringContaining('ECONNREFUSED'), time: expect.any(String) },
    });
    expect(JSON.stringify(data)).not.toContain(server.password);
    expect((await mount.read('failing')).data).toMatchObject({
      connections: { pg: { reason: expect.stringContaining('after 5 failures') } },
    });
    await server.restart();
    expect((await ask()).status).toBe(503);
    await mount.clock.advance('5s');
    expect((await ask()).status).toBe(200);
    expect((await mount.read('config/pg/status')).data).toMatchObject({ state: 'ready', circuit: { state: 'closed', failures: 0 } });
  });
});

describe('limits of a connection', () => {
  let database: FaultyDatabase;
  let mount: TestMount;
  beforeEach(async () => {
    database = faultyDatabase();
    mount = await mountForTest(databaseEngine, { plugins: [database.plugin] });
  });
  afterEach(async () => mount.close());
  const configure = async (more: Record<string, unknown> = {}) => {
    await mount.write('config/db', { plugin_name: 'faulty-database-plugin', host: 'h', allowed_roles: '*', ...more });
    await mount.write('roles/app', { db_name: 'db', creation_statements: '{}', default_ttl: '1h' });
  };
  const ask = async () => mount.call('read', 'database/creds/app');
  const fails = (error: Error) => (database.next = async () => Promise.reject(error));
  const turns = async (count = 20) => {
    for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  test('queue_limit, call_deadline, circuit_failures and circuit_pause are kept, shown, and checked', async () => {
    const limits = { queue_limit: 3, call_deadline: 10, circuit_failures: 2, circuit_pause: 60 };
    await configure({ ...limits, call_deadline: '10s', circuit_pause: '1m' });
    expect((await mount.read('config/db')).data).toMatchObject(limits);
    await mount.write('config/db', { queue_limit: '4' });
    expect((await mount.read('config/db')).data).toMatchObject({ ...limits, queue_limit: 4, connection_details: { host: 'h' } });
    const wrong = async (data: Record<string, unknown>) => {
      const { status, errors } = await mount.call('update', 'database/config/db', { data });
      return [status, ...(errors ?? [])].join();
    };
    for (const [field, value] of [
      ['queue_limit', -1],
      ['call_deadline', '46s'],
      ['call_deadline', 0],
      ['circuit_failures', -1],
      ['circuit_pause', 0],
      ['circuit_pause', '2h'],
    ] as const)
      expect(await wrong({ [field]: value })).toMatch(new RegExp(`^400,.*${field}`, 's'));
  });

  test('queue_limit: more requests that wait than that are answered 503 at once, with Retry-After; those that wait are served', async () => {
    await configure({ queue_limit: 2 });
    const finish: (() => void)[] = [];
    const hold = async (): Promise<void> => new Promise((resolve) => finish.push(resolve));
    const waiting: ReturnType<typeof ask>[] = [];
    for (let i = 0; i < 2; i += 1) {
      database.next = hold;
      waiting.push(ask());
      await turns();
    }
    expect((await mount.read('config/db/status')).data).toMatchObject({ queue: { under_way: 2, waiting: 2, limit: 2 }, pool: null });
    const refused = await ask();
    expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(refused.errors!.join()).toContain('database "db": 2 calls are waiting for a connection already');
    // Nothing was stored for what was refused.
    expect(((await mount.call('read', 'sys/journal')).data as { intents: unknown[] }).intents).toHaveLength(2);
    for (const resolve of finish) resolve();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
    expect((await ask()).status).toBe(200);
  });

  test('call_deadline: a call has no longer than that', async () => {
    await configure({ call_deadline: 2 });
    database.next = async (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const slow = ask();
    await turns();
    await mount.clock.advance('3s');
    expect((await slow).errors!.join()).toContain('database "db": no answer within 2 s');
  });

  test('circuit_failures and circuit_pause: when the circuit opens, and for how long', async () => {
    await configure({ circuit_failures: 2, circuit_pause: '30s' });
    for (let i = 0; i < 2; i += 1) {
      fails(new ConnectionLost('gone'));
      expect((await ask()).status).toBe(500);
    }
    expect(await ask()).toMatchObject({ status: 503, headers: { 'Retry-After': '30' } });
    // The trial fails: twice as long.
    await mount.clock.advance('30s');
    expect((await mount.read('config/db/status')).data).toMatchObject({ circuit: { state: 'half-open', threshold: 2 } });
    fails(new ConnectionLost('gone'));
    expect((await ask()).status).toBe(500);
    expect(await ask()).toMatchObject({ status: 503, headers: { 'Retry-After': '60' } });
    // New settings, and a reset, are tried at once.
    await mount.write('reset/db');
    expect((await ask()).status).toBe(200);
    await mount.write('config/db', { circuit_failures: 0 });
    for (let i = 0; i < 10; i += 1) {
      fails(new ConnectionLost('gone'));
      expect((await ask()).status).toBe(500);
    }
  });

  test('what the database refuses does not open the circuit', async () => {
    await configure({ circuit_failures: 2 });
    for (let i = 0; i < 6; i += 1) {
      fails(new StatementFailed('syntax error'));
      expect((await ask()).status).toBe(500);
    }
    expect((await ask()).status).toBe(200);
  });

  test('the circuit is one with that of background work: a revocation waits, and is made when the database is back', async () => {
    await configure({ circuit_failures: 2 });
    const { leaseId } = await ask();
    for (let i = 0; i < 2; i += 1) {
      fails(new ConnectionLost('gone'));
      await ask();
    }
    expect(database.users.size).toBe(1);
    const revoked = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect(revoked.errors!.join()).toContain('the revocation will be retried');
    expect(database.users.size).toBe(1);
    for (let i = 0; i < 6; i += 1) await mount.advance('10s');
    expect(database.users.size).toBe(0);
  });
});
