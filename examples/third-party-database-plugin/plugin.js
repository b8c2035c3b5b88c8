import { connectionSecrets, postgresqlDialect, renderConnectionUrl, sqlConnectionFields, SqlSession } from '@strongroom/database-sdk';
import { Type } from 'typebox';

const connection = Type.Object(sqlConnectionFields);

/** @type {import('@strongroom/database-sdk').DatabasePlugin<typeof connection>} */
export const pgWirePlugin = {
  kind: 'database',
  name: 'pg-wire-database-plugin',
  version: '0.1.0',
  apiVersion: 1,
  connection,
  supports: { credentials: ['password'], expiry: 'native', statements: 'sql' },
  usernameTemplate: '{{ printf "v-%s-%s" (.RoleName | truncate 20) (random 20) }}',
  usernameMaxLength: 63,

  async open(config, host) {
    const { default: pg } = await import('pg');
    const connectionString = renderConnectionUrl(config.connection_url, config, { disableEscaping: config.disable_escaping });
    const pool = new pg.Pool({ connectionString, max: config.max_open_connections });
    pool.on('error', () => host.log.warn('an idle connection was lost'));
    return new SqlSession({
      name: pgWirePlugin.name,
      dialect: postgresqlDialect,
      driver: driverFor(pool),
      defaults: {
        updateUser: [`ALTER USER "{{username}}" WITH PASSWORD '{{password}}'`],
        renewUser: [`ALTER USER "{{username}}" VALID UNTIL '{{expiration}}'`],
        deleteUser: ['DROP USER IF EXISTS "{{username}}"'],
      },
      secrets: connectionSecrets(connection, config),
      log: host.log,
    });
  },
};

/** @returns {import('@strongroom/database-sdk').SqlDriver<import('pg').PoolClient>} */
function driverFor(/** @type {import('pg').Pool} */ pool) {
  return {
    acquire: () => pool.connect(),
    release: (client, fit) => client.release(!fit),
    run: async (client, statements) => {
      for (const statement of ['BEGIN', ...statements, 'COMMIT']) await client.query(statement);
    },
    // A severity of FATAL is a refused login, or a server that shuts down.
    refusal: (/** @type {import('pg').DatabaseError} */ error) => (error.severity === 'ERROR' ? error.code : undefined),
    close: () => pool.end(),
  };
}
