import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { engineContract, manualClock, type EngineContract } from '@strongroom/engine-testkit';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { connectionTo, CREATION } from './database-mount.ts';

const contract: Omit<EngineContract, 'prepare'> = {
  engine: databaseEngine,
  plugins: [postgresqlPlugin],
  outside: [
    'config/{name}',
    'config/{name}/test',
    'creds/{name}',
    'static-roles/{name}',
    'rotate-role/{name}',
    'rotate-root/{name}',
    'reset/{name}',
    'orphans/{name}',
  ],
  // What the process is doing at the moment, and what the database has, is not the mount's.
  readsWithEffect: ['creds/{name}', 'config/{name}/status', 'orphans/{name}'],
};

describe('with a database that does not answer', () => {
  engineContract(
    { describe, test },
    {
      ...contract,
      prepare: async (mount) => {
        await mount.write('config/pg', {
          plugin_name: 'postgresql-database-plugin',
          connection_url: 'postgresql://{{username}}:{{password}}@127.0.0.1:1/postgres',
          username: 'postgres',
          password: 'root-password',
          allowed_roles: '*',
          verify_connection: false,
        });
        await mount.write('roles/app', { db_name: 'pg', creation_statements: ['CREATE ROLE "{{name}}"'] });
        return { name: ['pg', 'app'] };
      },
    },
  );
});

describe('with PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query(`CREATE ROLE app_static LOGIN PASSWORD 'first'`);
    await server.query('CREATE ROLE manager LOGIN SUPERUSER');
  }, 60_000);
  afterAll(async () => server?.stop());

  engineContract(
    { describe, test },
    {
      ...contract,
      clock: () => manualClock(new Date()),
      prepare: async (mount) => {
        // Each case rotates it, and its password is unknown afterwards.
        await server.query(`ALTER ROLE manager PASSWORD 'manager-first'`);
        await mount.write('config/pg', connectionTo(server, { username: 'manager', password: 'manager-first' }));
        await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
        await mount.write('static-roles/fixed', { db_name: 'pg', username: 'app_static', rotation_period: '24h' });
        await mount.write('rotate-root/pg');
        await mount.read('creds/app');
        return { name: ['pg', 'app', 'fixed'] };
      },
      leavesOutside: [
        { kind: 'database user', name: /^v-.*-app-/ },
        { kind: 'database user', name: /^app_static$/ },
        { kind: 'database root user', name: /^manager$/ },
      ],
    },
  );
});
