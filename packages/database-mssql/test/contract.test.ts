import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { createTestCa } from '@strongroom/lab';
import { mssqlPlugin } from '../src/index.ts';
import { SqlServerDouble } from './sql-server-double.ts';

/** SQL Server cannot be started where these tests run: what answers the driver speaks its protocol, but is not SQL Server. */
describe.each([
  {
    contained: false,
    form: 'a URL',
    creation: [
      `CREATE LOGIN [{{name}}] WITH PASSWORD = '{{password}}';`,
      'CREATE USER [{{name}}] FOR LOGIN [{{name}}]; GRANT SELECT ON SCHEMA::dbo TO [{{name}}];',
    ],
  },
  {
    contained: true,
    form: 'an ADO string',
    creation: [`CREATE USER [{{name}}] WITH PASSWORD = '{{password}}'; GRANT SELECT ON SCHEMA::dbo TO [{{name}}]`],
  },
])('the driver with a double of SQL Server, contained_db $contained, $form', ({ contained, form, creation }) => {
  const ca = createTestCa();
  const server = new SqlServerDouble({ contained, identity: ca.issue('db', ['DNS:localhost']) });
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  databasePluginContract(
    { describe, test },
    {
      plugin: mssqlPlugin,
      config: () => ({
        connection_url:
          form === 'a URL'
            ? `sqlserver://{{username}}:{{password}}@localhost:${server.port}?database=app&encrypt=true`
            : `server=localhost,${server.port};user id={{username}};password={{password}};database=app`,
        username: server.superuser,
        password: server.password,
        contained_db: contained,
        ...(form === 'a URL' && { tls_ca: ca.certificate }),
      }),
      creation,
      slow: [...creation, `WAITFOR DELAY '00:00:40'`],
      login: async (username, password) => (await server.login(username, password)).close(),
      restart: () => server.restart(),
    },
  );
});
