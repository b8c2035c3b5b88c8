import { Dialer, type SqlDriver } from '@strongroom/database-knex';
import tedious, { type Connection } from 'tedious';
import { batch, runTogether } from './batch.ts';
import type { MssqlConnection } from './connection-schema.ts';
import type { MssqlAddress, MssqlTarget } from './connection-string.ts';
import { checkParameters, driverOptions, encryptionOf } from './driver-options.ts';
import { answers } from './server-error.ts';
import { beginsWith, CONTAINED_USERS, disableUser, isNamed, LOGINS, namesOf } from './users.ts';

/** Checks the settings; connects to nothing. */
export function mssqlDriver(target: MssqlTarget, config: MssqlConnection): SqlDriver<Connection> {
  const dialer = mssqlDialer(target, config.tls_ca || undefined);
  const kind = config.contained_db ? CONTAINED_USERS : LOGINS;
  return {
    client: 'mssql',
    defaults: { updateUser: kind.passwordChange },
    dial: async () => dialer.dial(),
    end: async (connection) => connection.close(),
    destroy: (connection) => connection.close(),
    cancel: (connection) => void connection.cancel(),
    run: runTogether,
    ...answers,
    probe: async (connection) => batch(connection, 'SELECT 1 AS one'),
    deleteUser: kind.remove,
    disableUser: async (connection, username) => disableUser(connection, kind, username),
    userExists: async (connection, name) => (await namesOf(connection, kind, isNamed(name))).length > 0,
    listUsers: async (connection, prefix) => namesOf(connection, kind, beginsWith(prefix)),
  };
}

function mssqlDialer(target: MssqlTarget, tlsCa: string | undefined): Dialer<MssqlAddress, Connection> {
  checkParameters(target, tlsCa);
  const encryption = encryptionOf(target.parameters, tlsCa);
  const insists = encryption.required && encryption.encrypt !== 'strict';
  const options = new Map(target.addresses.map((address) => [address, driverOptions(target, address, encryption, tlsCa)]));
  return new Dialer({
    candidates: target.addresses,
    answers: { ...answers, loginFailure },
    async connect(address) {
      const connection = new tedious.Connection(options.get(address)!);
      if (insists) insistOnEncryption(connection);
      await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())));
      return connection;
    },
    placeOf: ({ host, port, instance }) => host + (instance === undefined ? '' : `\\${instance}`) + (port === undefined ? '' : `:${port}`),
    goesOn: () => true,
  });
}

/** The driver passes the server's refusal of a login on without its number. */
function loginFailure(error: unknown): ReturnType<typeof answers.loginFailure> {
  const isRefusedLogin = error instanceof Error && 'code' in error && error.code === 'ELOGIN';
  return isRefusedLogin && answers.loginFailure(error) === 'unreachable' ? 'credential' : answers.loginFailure(error);
}

/** The driver goes on in clear, password and all, where a server (or somebody on the way) says that it cannot encrypt. */
function insistOnEncryption(connection: Connection): void {
  let secure = false;
  connection.on('secure', () => (secure = true));
  const driver = connection as { sendLogin7Packet(): void };
  const send = driver.sendLogin7Packet.bind(connection);
  driver.sendLogin7Packet = () => {
    if (!secure) throw new Error('the server does not offer encryption, which the settings ask for');
    send();
  };
}
