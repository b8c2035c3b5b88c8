import { test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { MssqlConnection, mssqlPlugin } from '../src/index.ts';
import { CONTAINED_USERS, LOGINS } from '../src/users.ts';

databasePluginDeclaration(
  { test },
  {
    connection: MssqlConnection,
    parameters: {
      connection_url: undefined,
      username: undefined,
      password: undefined,
      disable_escaping: false,
      max_open_connections: 4,
      max_idle_connections: undefined,
      max_connection_lifetime: '0s',
      username_template: undefined,
      contained_db: false,
      tls_ca: undefined,
    },
    secrets: ['password'],
    statements: [
      [
        'rotation_statements, root_rotation_statements',
        LOGINS.passwordChange,
        [`ALTER LOGIN [{{username}}] WITH PASSWORD = '{{password}}'`],
      ],
      [
        'rotation_statements with contained_db',
        CONTAINED_USERS.passwordChange,
        [`ALTER USER [{{username}}] WITH PASSWORD = '{{password}}'`],
      ],
    ],
    plugins: [
      {
        plugin: mssqlPlugin,
        name: 'mssql-database-plugin',
        usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
        longest: /^v-d{20}-r{20}-[A-Za-z0-9]{20}-1795250515$/,
        limit: 128,
      },
    ],
  },
);
