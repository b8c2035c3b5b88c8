import { expect, test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT } from '../src/default-statements.ts';
import { CassandraConnection, cassandraPlugin } from '../src/index.ts';

databasePluginDeclaration(
  { test },
  {
    connection: CassandraConnection,
    parameters: {
      hosts: undefined,
      port: 9042,
      username: undefined,
      password: undefined,
      tls: false,
      insecure_tls: false,
      tls_server_name: undefined,
      tls_min_version: 'tls12',
      pem_bundle: undefined,
      pem_json: undefined,
      skip_verification: false,
      protocol_version: undefined,
      connect_timeout: '5s',
      socket_keep_alive: '0s',
      local_datacenter: undefined,
      consistency: undefined,
      username_template: undefined,
    },
    secrets: ['password', 'pem_bundle', 'pem_json'],
    statements: [
      [
        'rotation_statements, root_rotation_statements',
        PASSWORD_CHANGE_DEFAULT,
        [`ALTER USER '{{username}}' WITH PASSWORD '{{password}}';`],
      ],
      ['revocation_statements', REVOCATION_DEFAULT, [`DROP USER IF EXISTS '{{username}}';`]],
    ],
    plugins: [
      {
        plugin: cassandraPlugin,
        name: 'cassandra-database-plugin',
        usual: /^v_token_r_[a-z0-9]{20}_1795250515$/,
        longest: /^v_d{15}_r{15}_[a-z0-9]{20}_1795250515$/,
        limit: undefined,
      },
    ],
  },
);

test('creation_statements: without any, a user who may do nothing', () => {
  const credential = { type: 'password', password: 'p' } as const;
  expect(cassandraPlugin.preview!({ username: 'u', credential, statements: { commands: [] }, expiresAt: new Date() })).toEqual([
    `CREATE USER 'u' WITH PASSWORD 'p' NOSUPERUSER`,
  ]);
});
