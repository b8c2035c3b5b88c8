import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { findPostgres, type PostgresServer, startPostgres } from '@strongroom/lab';
import { pgWirePlugin } from '../plugin.js';

const available = (await findPostgres()) !== undefined;
if (!available) console.warn('SKIPPED: no PostgreSQL server is installed here');

(available ? describe : describe.skip)('the example against PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query('CREATE ROLE readers');
  }, 60_000);
  afterAll(() => server?.stop());

  databasePluginContract(
    { describe, test },
    {
      plugin: pgWirePlugin,
      config: () => ({
        connection_url: `postgresql://{{username}}:{{password}}@${server.host}:${server.port}/postgres`,
        username: server.superuser,
        password: server.password,
      }),
      login: (username, password) => server.login(username, password),
      creation: [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'; GRANT readers TO "{{name}}"`],
      slow: [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}'; SELECT pg_sleep(40)`],
      restart: () => server.restart(),
    },
  );
});
