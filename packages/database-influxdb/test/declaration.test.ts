import { expect, test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT } from '../src/default-statements.ts';
import { InfluxdbConnection, influxdbPlugin } from '../src/index.ts';

databasePluginDeclaration(
  { test },
  {
    connection: InfluxdbConnection,
    parameters: {
      host: undefined,
      port: 8086,
      username: undefined,
      password: undefined,
      tls: false,
      insecure_tls: false,
      tls_min_version: 'tls12',
      pem_bundle: undefined,
      pem_json: undefined,
      connect_timeout: '5s',
      username_template: undefined,
    },
    secrets: ['password', 'pem_bundle', 'pem_json'],
    statements: [
      ['rotation_statements, root_rotation_statements', PASSWORD_CHANGE_DEFAULT, [`SET PASSWORD FOR "{{username}}" = '{{password}}';`]],
      ['revocation_statements', REVOCATION_DEFAULT, ['DROP USER "{{username}}";']],
    ],
    plugins: [
      {
        plugin: influxdbPlugin,
        name: 'influxdb-database-plugin',
        usual: /^v_token_r_[a-z0-9]{20}_1795250515$/,
        longest: /^v_d{15}_r{15}_[a-z0-9]{20}_1795250515$/,
        limit: undefined,
      },
    ],
  },
);

test('creation_statements: without any, a user who may do nothing', () => {
  const credential = { type: 'password', password: 'p' } as const;
  expect(influxdbPlugin.preview!({ username: 'u', credential, statements: { commands: [] }, expiresAt: new Date() })).toEqual([
    `CREATE USER "u" WITH PASSWORD 'p'`,
  ]);
});
