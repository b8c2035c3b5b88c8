import { describe, test } from '@jest/globals';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { engineContract } from '@strongroom/engine-testkit';
import { databaseEngine } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: databaseEngine,
    plugins: [postgresqlPlugin],
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
    outside: [
      'config/{name}',
      'creds/{name}',
      'static-roles/{name}',
      'rotate-role/{name}',
      'rotate-root/{name}',
      'reset/{name}',
      'orphans/{name}',
    ],
    // What the process is doing at the moment, and what the database has, is not the mount's.
    readsWithEffect: ['creds/{name}', 'config/{name}/status', 'orphans/{name}'],
  },
);
