import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWithMariadb, type MariadbServer, startMariadb } from '@strongroom/lab';
import { mysqlAuroraPlugin, mysqlLegacyPlugin, mysqlPlugin, mysqlRdsPlugin } from '../src/index.ts';

describeWithMariadb('MariaDB', () => {
  let server: MariadbServer;
  beforeAll(async () => {
    server = await startMariadb();
    await server.query('CREATE DATABASE app');
  }, 60_000);
  afterAll(() => server?.stop());

  const options = {
    login: (username: string, password: string) => server.login(username, password),
    creation: [`CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}';`, `GRANT SELECT ON app.* TO '{{name}}'@'%';`],
    slow: [`CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}'; SELECT SLEEP(40)`],
    restart: () => server.restart(),
  };
  const config = () => ({
    connection_url: `{{username}}:{{password}}@tcp(${server.host}:${server.port})/`,
    username: server.superuser,
    password: server.password,
  });

  for (const plugin of [mysqlPlugin, mysqlAuroraPlugin, mysqlRdsPlugin, mysqlLegacyPlugin]) {
    databasePluginContract({ describe, test }, { ...options, plugin, config });
  }

  describe('with a URL, a small pool, and creation in one statement', () => {
    databasePluginContract(
      { describe, test },
      {
        ...options,
        plugin: mysqlPlugin,
        creation: [`GRANT SELECT ON app.* TO "{{username}}"@"%" IDENTIFIED BY "{{password}}"`],
        config: () => ({
          ...config(),
          connection_url: `mysql://{{username}}:{{password}}@${server.host}:${server.port}/app?tls=false`,
          max_open_connections: 2,
          max_idle_connections: 1,
        }),
      },
    );
  });
});
