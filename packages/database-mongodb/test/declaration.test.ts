import { test } from '@jest/globals';
import { databasePluginDeclaration } from '@strongroom/database-testkit';
import { MongodbConnection, mongodbPlugin } from '../src/index.ts';

databasePluginDeclaration(
  { test },
  {
    connection: MongodbConnection,
    parameters: {
      connection_url: undefined,
      username: undefined,
      password: undefined,
      disable_escaping: false,
      write_concern: undefined,
      tls_ca: undefined,
      tls_certificate_key: undefined,
      username_template: undefined,
    },
    secrets: ['password', 'tls_certificate_key'],
    plugins: [
      {
        plugin: mongodbPlugin,
        name: 'mongodb-database-plugin',
        usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
        longest: /^v-d{15}-r{15}-[A-Za-z0-9]{20}-1795250515$/,
        limit: undefined,
      },
    ],
  },
);
