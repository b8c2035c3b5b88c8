import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { postgresqlPlugin } from '../src/index.ts';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

const available = (await findPostgres()) !== undefined;
if (!available) console.warn('SKIPPED: no PostgreSQL server is installed here, so nothing is proven about the PostgreSQL plugin');

(available ? describe : describe.skip)('PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop());

  const options = {
    plugin: postgresqlPlugin,
    login: (username: string, password: string) => server.login(username, password),
    creation: [
      `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`,
      'GRANT USAGE ON SCHEMA public TO "{{name}}"; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{{name}}";',
    ],
    slow: [`CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}'; SELECT pg_sleep(40)`],
    restart: () => server.restart(),
  };
  const config = () => ({
    connection_url: `postgresql://{{username}}:{{password}}@${server.host}:${server.port}/postgres?sslmode=disable`,
    username: server.superuser,
    password: server.password,
  });

  databasePluginContract({ describe, test }, { ...options, config });

  describe('with scram-sha-256, a keyword string and TLS as it comes', () => {
    databasePluginContract(
      { describe, test },
      {
        ...options,
        config: () => ({
          ...config(),
          connection_url: `host=${server.host} port=${server.port} user={{username}} password='{{password}}' dbname=postgres`,
          password_authentication: 'scram-sha-256',
          max_open_connections: 2,
          max_idle_connections: 1,
        }),
      },
    );
  });
});
