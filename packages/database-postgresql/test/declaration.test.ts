import { test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { PostgresqlConnection, postgresqlPlugin } from '../src/index.ts';
import { PASSWORD_CHANGE_DEFAULT, RENEW_DEFAULT } from '../src/plugin.ts';

databasePluginDeclaration(
  { test },
  {
    connection: PostgresqlConnection,
    parameters: {
      connection_url: undefined,
      username: undefined,
      password: undefined,
      disable_escaping: false,
      max_open_connections: 4,
      max_idle_connections: undefined,
      max_connection_lifetime: '0s',
      username_template: undefined,
      password_authentication: 'password',
      tls_ca: undefined,
      tls_certificate: undefined,
      private_key: undefined,
    },
    secrets: ['password', 'private_key'],
    statements: [
      ['renew_statements', RENEW_DEFAULT, [`ALTER ROLE "{{name}}" VALID UNTIL '{{expiration}}';`]],
      [
        'rotation_statements, root_rotation_statements',
        PASSWORD_CHANGE_DEFAULT,
        [`ALTER ROLE "{{username}}" WITH PASSWORD '{{password}}';`],
      ],
    ],
    plugins: [
      {
        plugin: postgresqlPlugin,
        name: 'postgresql-database-plugin',
        usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
        longest: /^v-d{8}-r{8}-[A-Za-z0-9]{20}-1795250515$/,
        limit: 63,
      },
    ],
  },
);
