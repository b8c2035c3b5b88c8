import { connect, isIP, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { Dialer } from '@strongroom/database-knex';
import { present } from '@strongroom/database-sdk';
import mysql, { type Connection, type ConnectionOptions } from 'mysql2';
import type { MysqlConnection } from './connection-schema.ts';
import type { MysqlAddress, MysqlTarget } from './connection-string.ts';
import { answers } from './server-error.ts';
import { sessionParameters } from './session-parameters.ts';
import { query } from './statement-run.ts';
import { type TlsChoice, tlsChoices } from './tls.ts';

interface Candidate {
  readonly address: MysqlAddress;
  readonly tls: TlsChoice;
}

const NO_BACKSLASH_ESCAPES = 'NO_BACKSLASH_ESCAPES'; // In this mode, values would not be what they are written as.

/** Connects to the first of the hosts, and in the first of the ways to speak TLS, that works. Throws ConfigurationInvalid. */
export function mysqlDialer(target: MysqlTarget, config: MysqlConnection): Dialer<Candidate, Connection> {
  const { addresses, user, password, database, parameters } = target;
  const ways = tlsChoices(parameters.get('tls'), config);
  const session = sessionParameters(parameters);
  const options: ConnectionOptions = {
    ...present({ user, password, database }),
    ...session.options,
    // A server must not be able to ask for files of ours.
    flags: ['-LOCAL_FILES'],
  };
  return new Dialer<Candidate, Connection>({
    candidates: addresses.flatMap((address) => ('socketPath' in address ? [false as const] : ways).map((tls) => ({ address, tls }))),
    answers,
    async connect({ address, tls }) {
      const connection = mysql.createConnection({ ...options, ...route(address, tls, config.tls_server_name) });
      // Of errors of an idle connection the pool hears.
      connection.on('error', () => undefined);
      try {
        await promisify(connection.connect.bind(connection))();
        return connection;
      } catch (error) {
        connection.destroy();
        throw error;
      }
    },
    async prepare(connection) {
      for (const statement of session.setup) await query(connection, statement);
      const [row] = await query(connection, 'SELECT @@SESSION.sql_mode AS mode');
      const modes = String(row?.['mode'] ?? '').split(',');
      if (modes.includes(NO_BACKSLASH_ESCAPES))
        await query(connection, `SET SESSION sql_mode = '${modes.filter((mode) => mode !== NO_BACKSLASH_ESCAPES).join(',')}'`);
    },
    abandon: (connection) => connection.destroy(),
    placeOf: ({ address }) => ('socketPath' in address ? address.socketPath : `${address.host}:${address.port}`),
    isExpected: (error) => (error as { code?: unknown }).code === 'HANDSHAKE_NO_SSL_SUPPORT' && ways.includes(false),
  });
}

function route(address: MysqlAddress, tls: TlsChoice, serverName: string | undefined): ConnectionOptions {
  if ('socketPath' in address) return address;
  const { host, port } = address;
  // The driver checks certificates for its `host`, which need not be where the connection goes.
  return { host: serverName || host, port, stream: () => socketTo(host, port), ...(tls && { ssl: { ...tls } }) };
}

function socketTo(host: string, port: number): Socket {
  const socket = connect(port, host).setNoDelay(true).setKeepAlive(true);
  // Names a certificate is checked for: the driver passes host names on, but not addresses. Node reads them here.
  return isIP(host) ? Object.assign(socket, { _host: host }) : socket;
}
