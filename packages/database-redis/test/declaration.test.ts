import { test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { DEFAULT_RULES } from '../src/rules.ts';
import { RedisConnection, redisPlugin, valkeyPlugin } from '../src/index.ts';

databasePluginDeclaration(
  { test },
  {
    connection: RedisConnection,
    parameters: {
      host: undefined,
      port: 6379,
      connection_url: undefined,
      username: undefined,
      password: undefined,
      disable_escaping: false,
      tls: false,
      insecure_tls: false,
      ca_cert: undefined,
      tls_certificate: undefined,
      private_key: undefined,
      persistence_mode: undefined,
      username_template: undefined,
    },
    secrets: ['password', 'private_key'],
    statements: [['creation_statements', DEFAULT_RULES, ['["~*","+@read"]']]],
    plugins: [
      {
        plugin: redisPlugin,
        name: 'redis-database-plugin',
        usual: /^V_TOKEN_R_[A-Z0-9]{20}_1795250515$/,
        longest: /^V_D{15}_R{15}_[A-Z0-9]{20}_1795250515$/,
        limit: undefined,
      },
      {
        plugin: valkeyPlugin,
        name: 'valkey-database-plugin',
        usual: /^V_TOKEN_R_[A-Z0-9]{20}_1795250515$/,
        longest: /^V_D{15}_R{15}_[A-Z0-9]{20}_1795250515$/,
        limit: undefined,
      },
    ],
  },
);
