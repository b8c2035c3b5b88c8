import { startPostgres, type PostgresServer } from '@strongroom/lab';
import pg from 'pg';
import type { BenchServer } from './bench-server.ts';
import { comparedLoad } from './compared-load.ts';
import { rotationsTogether, type RotationFigures } from './database-rotations.ts';
import { requestText } from './http-connection.ts';
import { load, once, type Figures, type Operation, type Target } from './load.ts';
import { mount, MOUNTS } from './mounts.ts';

/** Connections of the pool, and of the client that does nothing else. */
const CONNECTIONS = 16;
/** Operations before anything is measured. */
const WARM_UP = 2_000;
const CREATION = `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;

const DURABLE = { settings: ['max_connections=200', 'fsync=on', 'synchronous_commit=on'] };

export interface DatabaseFigures {
  readonly creation: Figures;
  readonly creationAndRevocation: Figures;
  /** `CREATE ROLE` from a client that does nothing else, in the same run: what the machine and PostgreSQL give at all. */
  readonly bareCreationsPerSecond: number;
  /** A thousand static roles that fall due in the same second. */
  readonly rotations: RotationFigures;
}

/**
 * Credentials over HTTP against a durable PostgreSQL: a user, its lease and both commits of the journal; then also its removal; then static roles
 * that fall due together while credentials are made.
 */
export async function databaseCredentials(bench: BenchServer, seconds: number): Promise<DatabaseFigures> {
  const postgres = await startPostgres(DURABLE);
  try {
    await configure(bench, postgres);
    const { target } = bench;
    const { create, createAndRevoke } = operations(target);
    // Counted, not timed: code is compiled by how often it ran, and PostgreSQL lets few operations through in a second.
    await load('warm up', target, createAndRevoke, { count: WARM_UP });
    const before = await bareCreations(postgres, seconds / 2);
    const creation = await load('pg creds', target, create, { seconds });
    const after = await bareCreations(postgres, seconds / 2);
    const creationAndRevocation = await load('pg creds+rev', target, createAndRevoke, { seconds });
    const rotations = await rotationsTogether(target, postgres, create);
    return { creation, creationAndRevocation, bareCreationsPerSecond: Math.round((before + after) / 2), rotations };
  } finally {
    await postgres.stop();
  }
}

function operations(target: Target): { create: Operation; createAndRevoke: Operation } {
  const ask = requestText('GET', `/v1/${MOUNTS.database}/creds/app`, target.token);
  const create: Operation = async (connection) => {
    const answer = await connection.send(ask);
    if (answer.status !== 200) throw new Error(`creds: ${answer.status} ${answer.body.slice(0, 300)}`);
  };
  const createAndRevoke: Operation = async (connection) => {
    const answer = await connection.send(ask);
    if (answer.status !== 200) throw new Error(`creds: ${answer.status} ${answer.body.slice(0, 300)}`);
    const { lease_id } = JSON.parse(answer.body) as { lease_id: string };
    const gone = await connection.send(requestText('PUT', '/v1/sys/leases/revoke', target.token, JSON.stringify({ lease_id, sync: true })));
    if (gone.status !== 204) throw new Error(`revoke: ${gone.status} ${gone.body.slice(0, 300)}`);
  };
  return { create, createAndRevoke };
}

async function configure({ target }: Pick<BenchServer, 'target'>, postgres: PostgresServer): Promise<void> {
  await mount(target, MOUNTS.database, 'database');
  await once(target, 'POST', `/v1/${MOUNTS.database}/config/pg`, {
    plugin_name: 'postgresql-database-plugin',
    allowed_roles: '*',
    connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
    username: postgres.superuser,
    password: postgres.password,
    max_open_connections: CONNECTIONS,
  });
  await once(target, 'POST', `/v1/${MOUNTS.database}/roles/app`, { db_name: 'pg', creation_statements: CREATION, default_ttl: '1h' });
}

async function bareCreations(postgres: PostgresServer, seconds: number): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      return client;
    }),
  );
  const began = performance.now();
  let done = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - began < seconds * 1_000) {
        done += 1;
        await client.query(`CREATE ROLE "bare-${began}-${done}" LOGIN PASSWORD 'bare-password-${done}' VALID UNTIL '2031-01-01'`);
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1_000;
  await Promise.all(clients.map(async (client) => client.end()));
  return Math.round(done / elapsed);
}

/** Credentials of one PostgreSQL from several servers. */
export const comparedCredentials = comparedLoad(['pg creds', 'pg creds+rev'], async (targets) => {
  const postgres = await startPostgres(DURABLE);
  for (const target of targets) await configure({ target }, postgres);
  return {
    operations: { 'pg creds': (target) => operations(target).create, 'pg creds+rev': (target) => operations(target).createAndRevoke },
    stop: async () => postgres.stop(),
  };
});
