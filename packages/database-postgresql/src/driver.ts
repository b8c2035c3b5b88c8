import { connect } from 'node:net';
import type { SqlDriver } from '@strongroom/database-knex';
import { ConfigurationInvalid } from '@strongroom/database-sdk';
import type { Client } from 'pg';
import type { PostgresqlConnection } from './connection-schema.ts';
import type { PostgresqlTarget } from './connection-string.ts';
import { postgresqlDialer } from './dial.ts';
import { revokeAndDrop, takeLogin } from './revocation.ts';
import { scramVerifier } from './scram.ts';
import { answers } from './server-error.ts';
import { runTogether } from './transaction.ts';

const CANCEL_REQUEST = 80_877_102;
const NAMED = 'SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1::name';
const USERS = `SELECT rolname AS name FROM pg_catalog.pg_roles
WHERE (rolcanlogin OR rolvaliduntil = '-infinity') AND pg_catalog.starts_with(rolname::text, $1) ORDER BY 1`;

const quiet = (): void => undefined;

/** Checks the settings; connects to nothing. */
export function postgresqlDriver(target: PostgresqlTarget, config: PostgresqlConnection): SqlDriver<Client> {
  const dialer = postgresqlDialer(target, config);
  const authentication = config.password_authentication ?? 'password';
  if (authentication !== 'password' && authentication !== 'scram-sha-256')
    throw new ConfigurationInvalid(`'${authentication}' is not a valid password authentication type`);
  return {
    client: 'pg',
    ...(authentication === 'scram-sha-256' && { password: async (password) => scramVerifier(password) }),
    dial: async () => dialer.dial(),
    end: async (client) => client.end(),
    destroy: (client) => void client.end().catch(quiet),
    cancel,
    isClean: (client) => client.getTransactionStatus() === 'I',
    run: runTogether,
    ...answers,
    probe: async (client) => client.query('SELECT 1'),
    deleteUser: revokeAndDrop,
    disableUser: takeLogin,
    changeOwnPassword: 'updateUser',
    userExists: async (client, username) => (await client.query(NAMED, [username])).rows.length > 0,
    listUsers: async (client, prefix) => (await client.query<{ name: string }>(USERS, [prefix])).rows.map(({ name }) => name),
  };
}

/** Asks the server, over a connection of its own as the protocol wants, to stop what `client` is running. */
function cancel(client: Client): void {
  const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number | null };
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  [16, CANCEL_REQUEST, processID, secretKey].forEach((word, index) => request.writeInt32BE(word, index * 4));
  const { host, port } = client;
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', quiet).setTimeout(2_000, () => socket.destroy());
  socket.end(request);
}
