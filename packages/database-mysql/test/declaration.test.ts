import { test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { MysqlConnection, mysqlAuroraPlugin, mysqlLegacyPlugin, mysqlPlugin, mysqlRdsPlugin } from '../src/index.ts';
import { PASSWORD_CHANGE_DEFAULT } from '../src/plugins.ts';
import { DROP_DEFAULT, REVOKE_DEFAULT } from '../src/users.ts';

databasePluginDeclaration(
  { test },
  {
    connection: MysqlConnection,
    parameters: {
      connection_url: undefined,
      username: undefined,
      password: undefined,
      disable_escaping: false,
      max_open_connections: 4,
      max_idle_connections: undefined,
      max_connection_lifetime: '0s',
      username_template: undefined,
      tls_ca: undefined,
      tls_certificate_key: undefined,
      tls_server_name: undefined,
      tls_skip_verify: false,
    },
    secrets: ['password', 'tls_certificate_key'],
    statements: [
      [
        'rotation_statements, root_rotation_statements',
        PASSWORD_CHANGE_DEFAULT,
        [`ALTER USER '{{username}}'@'%' IDENTIFIED BY '{{password}}';`],
      ],
      [
        'revocation_statements',
        [REVOKE_DEFAULT, DROP_DEFAULT],
        [`REVOKE ALL PRIVILEGES, GRANT OPTION FROM '{{name}}'@'%';`, `DROP USER '{{name}}'@'%';`],
      ],
    ],
    plugins: [
      {
        plugin: mysqlPlugin,
        name: 'mysql-database-plugin',
        usual: /^v-token-r-[A-Za-z0-9]{20}-1$/,
        longest: /^v-d{10}-r{10}-[A-Za-z0-9]{8}$/,
        limit: 32,
      },
      {
        plugin: mysqlAuroraPlugin,
        name: 'mysql-aurora-database-plugin',
        usual: /^v-r-[A-Za-z0-9]{12}$/,
        longest: /^v-r{4}-[A-Za-z0-9]{9}$/,
        limit: 32,
      },
      {
        plugin: mysqlRdsPlugin,
        name: 'mysql-rds-database-plugin',
        usual: /^v-r-[A-Za-z0-9]{12}$/,
        longest: /^v-r{4}-[A-Za-z0-9]{9}$/,
        limit: 32,
      },
      {
        plugin: mysqlLegacyPlugin,
        name: 'mysql-legacy-database-plugin',
        usual: /^v-r-[A-Za-z0-9]{12}$/,
        longest: /^v-r{4}-[A-Za-z0-9]{9}$/,
        limit: 16,
      },
    ],
  },
);
