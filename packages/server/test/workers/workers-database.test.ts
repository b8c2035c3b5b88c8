import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { scratchFolder } from '../scratch.ts';
import { ServerProcess, until, type Connection } from './server-process.ts';

/** More take minutes: `STRONGROOM_ROLES_DUE=1000`. */
const ROLES = Number(process.env['STRONGROOM_ROLES_DUE'] ?? 50);
jest.setTimeout(Math.max(120_000, ROLES * 600));

/** Seconds from the first password of a role to the second. Long enough that all are defined before the first is due. */
const OFFSET = Math.max(5, ROLES / 25);
/** The whole server's limit of connections to the database. */
const LIMIT = 6;

/** The store and the database whose passwords are rotated are one PostgreSQL server. */
describe('two workers over PostgreSQL', () => {
  const folder = scratchFolder();
  let postgres: PostgresServer;
  let server: ServerProcess;
  let address: string;
  let token: string;
  let connections: Connection[];

  beforeAll(async () => {
    postgres = await startPostgres({ settings: ['max_connections=60'] });
    await postgres.query(`CREATE ROLE rotator SUPERUSER LOGIN PASSWORD 'first'`);
    await postgres.query(`CREATE TABLE rotated (role text, sessions int)`);
    await postgres.query(Array.from({ length: ROLES }, (_, i) => `CREATE ROLE due${i} LOGIN`).join(';'));
    const config = join(folder, 'server.hcl');
    writeFileSync(
      config,
      `storage "postgresql" { connection_url = ${JSON.stringify(postgres.url)}, max_parallel = 8 }
listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
seal "static" { current_key_id = "1", current_key = "${'ab'.repeat(32)}" }
ui = false
workers = 2
`,
    );
    server = new ServerProcess(config);
    address = await server.says(/Listeners: (http:\S+)/);
    connections = Array.from({ length: 8 }, () => server.connection(address));
    const { body } = await connections[0]!.call('PUT', 'sys/init', '', { recovery_shares: 1, recovery_threshold: 1 });
    token = body['root_token'] as string;
    for (const one of connections) await until(async () => (await one.call('GET', 'sys/health')).status === 200);
  }, 120_000);
  afterAll(async () => {
    await server?.end('SIGKILL');
    await postgres?.stop();
  });
  const call = async (at: number, method: string, path: string, body?: unknown) =>
    connections[at % connections.length]!.call(method, path, token, body);
  const connection = (port: number): object => ({
    plugin_name: 'postgresql-database-plugin',
    allowed_roles: '*',
    connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${port}/postgres?sslmode=disable`,
    username: 'rotator',
    password: 'first',
    max_open_connections: LIMIT,
    max_idle_connections: LIMIT,
  });

  test(`rotate ${ROLES} roles that are due at once, each exactly once, and keep to the limit of connections`, async () => {
    expect((await call(0, 'POST', 'sys/mounts/database', { type: 'database' })).status).toBe(204);
    expect((await call(1, 'POST', 'database/config/pg', connection(postgres.port))).status).toBe(204);
    const names = Array.from({ length: ROLES }, (_, i) => `due${i}`);
    const settings = {
      ...{ db_name: 'pg', rotation_period: '24h', first_rotation_offset: OFFSET },
      rotation_statements: [
        `ALTER USER "{{name}}" WITH PASSWORD '{{password}}'`,
        `INSERT INTO rotated SELECT '{{name}}', count(*) FROM pg_stat_activity WHERE usename = 'rotator'`,
      ],
    };
    const defined = connections.map(async (_, at) => {
      for (let i = at; i < ROLES; i += connections.length)
        expect((await call(at, 'POST', `database/static-roles/due${i}`, { ...settings, username: `due${i}` })).status).toBe(204);
    });
    await Promise.all(defined);
    const counted = async () =>
      postgres.query<{ role: string; times: number; sessions: number }>(
        'SELECT role, count(*)::int AS times, max(sessions) AS sessions FROM rotated GROUP BY role',
      );
    await until(async () => (await counted()).filter(({ times }) => times >= 2).length === ROLES);
    const rotated = await counted();
    expect(rotated.map(({ role }) => role).sort()).toEqual([...names].sort());
    // Its first password, and the one that was due.
    expect(rotated.filter(({ times }) => times !== 2)).toEqual([]);
    expect(Math.max(...rotated.map(({ sessions }) => sessions))).toBeLessThanOrEqual(LIMIT);
  });

  test('show a call that waits for an outside system at each connection', async () => {
    const waiting = new Set<Socket>();
    const silent = createServer((socket) => void waiting.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const refused = server.connection(address).call('POST', 'database/config/silent', token, connection(port));
    for (const one of connections)
      await until(async () => (await one.call('GET', 'sys/in-flight-req', token)).text.includes('/v1/database/config/silent'));
    await new Promise<void>((resolve) => {
      silent.close(() => resolve());
      for (const socket of waiting) socket.destroy();
    });
    expect((await refused).status).toBeGreaterThanOrEqual(400);
  });

  test('show a circuit breaker that one of them opened, and close those of all', async () => {
    await postgres.query(`ALTER ROLE rotator PASSWORD 'another'`);
    await postgres.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotator'`);
    const shown = async (at: number): Promise<unknown[]> =>
      ((await call(at, 'GET', 'sys/circuits')).body['data'] as { circuits: { state: string }[] }).circuits.filter(
        ({ state }) => state === 'open',
      );
    const fail = async (at: number) => call(at, 'POST', 'database/rotate-role/due0');
    await until(async () => {
      await Promise.all(connections.map(async (_, at) => fail(at)));
      return (await Promise.all(connections.map(async (_, at) => shown(at)))).every(({ length }) => length === 1);
    });
    const before = await Promise.all(connections.map(async (_, at) => shown(at)));
    for (const each of before) expect(each).toEqual(before[0]);
    await postgres.query(`ALTER ROLE rotator PASSWORD 'first'`);
    expect(
      (await call(3, 'POST', 'sys/circuits/reset', { mount: 'database/', target: (before[0]![0] as { target: string }).target })).status,
    ).toBe(204);
    const after = await Promise.all(connections.map(async (_, at) => shown(at)));
    expect(after.flat()).toEqual([]);
    for (const [at] of connections.entries()) expect((await fail(at)).status).toBeLessThan(300);
  });
});
