import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere, findMysql, type MysqlServer, startMysql } from '@strongroom/lab';
import { mysqlPlugin } from '../src/index.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const found = await findMysql();

describeWhere('missing' in found ? found.missing : undefined, 'MySQL', () => {
  let server: MysqlServer;
  beforeAll(async () => {
    server = await startMysql();
    await server.query('CREATE DATABASE app');
  }, 120_000);
  afterAll(() => server?.stop());

  databasePluginContract(
    { describe, test },
    {
      plugin: mysqlPlugin,
      config: () => ({
        connection_url: `{{username}}:{{password}}@tcp(${server.host}:${server.port})/`,
        username: server.superuser,
        password: server.password,
      }),
      login: (username, password) => server.login(username, password),
      creation: [`CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}';`, `GRANT SELECT ON app.* TO '{{name}}'@'%';`],
      slow: [`CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}'; SELECT SLEEP(40)`],
      restart: () => server.restart(),
    },
  );
});
