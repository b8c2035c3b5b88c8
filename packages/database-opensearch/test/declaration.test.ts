import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { test } from '@jest/globals';
import { OpensearchConnection, opensearchPlugin } from '../src/index.ts';

databasePluginDeclaration(
  { test },
  {
    connection: OpensearchConnection,
    parameters: {
      url: undefined,
      username: undefined,
      password: undefined,
      ca_cert: undefined,
      client_cert: undefined,
      client_key: undefined,
      tls_server_name: undefined,
      tls_min_version: 'tls12',
      insecure: false,
      username_template: undefined,
    },
    secrets: ['password', 'client_key'],
    plugins: [
      {
        plugin: opensearchPlugin,
        name: 'opensearch-database-plugin',
        usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
        longest: /^v-d{15}-r{15}-[A-Za-z0-9]{20}-1795250515$/,
        limit: undefined,
      },
    ],
  },
);
