import { runInOrder, sqlPlugin, standardTransaction } from '@strongroom/database-knex';
import { postgresqlDialect, renderConnectionUrl, sqlConnectionFields } from '@strongroom/database-sdk';
import { Type } from 'typebox';

export const pgWirePlugin = sqlPlugin({
  name: 'pg-wire-database-plugin',
  version: '0.1.0',
  connection: Type.Object(sqlConnectionFields),
  expiry: 'native',
  usernameTemplate: '{{ printf "v-%s-%s" (.RoleName | truncate 20) (random 20) }}',
  usernameMaxLength: 63,
  dialect: postgresqlDialect,
  defaults: {
    updateUser: [`ALTER USER "{{username}}" WITH PASSWORD '{{password}}'`],
    renewUser: [`ALTER USER "{{username}}" VALID UNTIL '{{expiration}}'`],
    deleteUser: ['DROP USER IF EXISTS "{{username}}"'],
  },
  target: (config) => ({
    user: config.username,
    password: config.password,
    url: renderConnectionUrl(config.connection_url, config, { disableEscaping: config.disable_escaping }),
  }),

  async driver({ url }) {
    const { default: pg } = await import('pg');
    /** @type {import('@strongroom/database-knex').SqlDriver<import('pg').Client>} */
    const driver = {
      client: 'pg',
      async dial() {
        const client = new pg.Client({ connectionString: url }).on('error', () => {});
        await client.connect();
        return client;
      },
      end: (client) => client.end(),
      destroy: (client) => void client.end().catch(() => {}),
      run: (client, statements) => runInOrder((statement) => client.query(statement), statements, standardTransaction),
      // A severity of FATAL is a refused login, or a server that shuts down.
      refusal: (error) => (error instanceof pg.DatabaseError && error.severity === 'ERROR' ? error.code : undefined),
    };
    return driver;
  },
});
