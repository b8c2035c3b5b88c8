import * as sdk from '@strongroom/database-sdk';
import pg from 'pg';
import { Type } from 'typebox';

const connection = Type.Object(sdk.sqlConnectionFields);

/** @type {sdk.DatabasePlugin<typeof connection>} */
export const pgWirePlugin = {
  kind: 'database',
  name: 'pg-wire-database-plugin',
  apiVersion: 1,
  connection,
  supports: { credentials: ['password'], expiry: 'native', statements: 'sql' },
  usernameTemplate: '{{ printf "v-%s-%s" (.RoleName | truncate 20) (random 20) }}',
  usernameMaxLength: 63,
  async open(config, host) {
    const connectionString = sdk.renderConnectionUrl(config.connection_url, config, { disableEscaping: config.disable_escaping });
    const pool = new pg.Pool({ connectionString, max: config.max_open_connections || 4 });
    pool.on('error', () => host.log.warn('an idle connection was lost'));
    const known = sdk.connectionSecrets(connection, config);

    /** @param {any} request @param {string[]} byDefault */
    async function run({ signal, statements, username, credential, expiresAt }, byDefault = []) {
      if (pool.ending) throw new sdk.SessionClosed();
      signal.throwIfAborted();
      if (credential && credential.type !== 'password') throw new sdk.CredentialUnsupported(pgWirePlugin.name, credential.type);
      const values = { name: username, username, password: credential?.password, expiration: expiresAt?.toISOString() };
      const commands = statements.commands.length > 0 ? statements.commands : byDefault;
      const rendered = sdk.renderStatements(commands, values, sdk.postgresqlDialect);
      if (rendered.length === 0) throw new sdk.StatementInvalid('empty creation statements');
      const connecting = pool.connect();
      try {
        const client = await sdk.abortable(signal, connecting, () => connecting.then((late) => late.release(), String));
        // Whoever fails or is told to stop throws the connection away, and the server the transaction.
        const discard = (error) => (client.release(true), Promise.reject(error));
        await sdk.abortable(signal, inTransaction(client, rendered)).then(() => client.release(), discard);
      } catch (error) {
        if (signal.aborted) throw error;
        const text = sdk.redact(error.message || error.code, { ...known, 'new password': values.password });
        throw error.severity === 'ERROR' ? new sdk.StatementFailed(text, { serverCode: error.code }) : new sdk.ConnectionLost(text);
      }
    }
    const unverified = (error) => (error.code === 'connection_lost' ? new sdk.VerificationFailed(error.message) : error);
    const undo = (request) => run({ ...request, statements: request.undo, signal: globalThis.AbortSignal.timeout(10_000) }, ['SELECT 1']);
    const undone = (request) => undo(request).catch(() => host.log.warn('rollback statements failed'));
    return {
      verify: (signal) => run({ signal, statements: { commands: ['SELECT 1'] } }).catch((error) => Promise.reject(unverified(error))),
      createUser: (request) => run(request).catch((error) => undone(request).then(() => Promise.reject(error))),
      updateUser: (request) => run(request, [`ALTER USER "{{username}}" WITH PASSWORD '{{password}}'`]),
      renewUser: (request) => run(request, [`ALTER USER "{{username}}" VALID UNTIL '{{expiration}}'`]),
      deleteUser: (request) => run(request, ['DROP USER IF EXISTS "{{username}}"']),
      close: async () => void (pool.ending || (await pool.end())),
    };
  },
};

async function inTransaction(client, statements) {
  for (const statement of ['BEGIN', ...statements, 'COMMIT']) await client.query(statement);
}
