import { connect, isIP, type Socket } from 'node:net';
import type { Connection, ConnectionOptions } from 'mysql2';
import { ConnectionLost, type LoginFailure } from '@strongroom/database-sdk';
import type { ConnectionTarget, MysqlAddress } from './connection-string.ts';
import { errorText, hideSecrets, isConnectionError, loginFailure } from './server-error.ts';
import { sessionParameters } from './session-parameters.ts';
import type { TlsChoice } from './tls.ts';

export interface DialSettings {
  readonly target: ConnectionTarget;
  readonly tls: readonly TlsChoice[];
  /** The name that certificates must be for; the host where undefined. */
  readonly serverName: string | undefined;
  readonly secrets: Readonly<Record<string, string>>;
}

type CreateConnection = typeof import('mysql2').createConnection;
type Row = Record<string, unknown>;

interface Candidate {
  readonly address: MysqlAddress;
  readonly tls: TlsChoice;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** In this mode backslashes mean nothing, and values would not be what they are written as. */
const NO_BACKSLASH_ESCAPES = 'NO_BACKSLASH_ESCAPES';

/** Runs one statement as text. Statements that hold passwords are never prepared: the server would keep them. */
export function query(connection: Connection, sql: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
  });
}

/** Makes connections: tries the hosts and ways to speak TLS in order, starting with what worked last. */
export class Dialer {
  readonly #createConnection: CreateConnection;
  readonly #settings: DialSettings;
  readonly #candidates: readonly Candidate[];
  readonly #options: ConnectionOptions;
  readonly #setup: readonly string[];
  #next = 0;

  constructor(createConnection: CreateConnection, settings: DialSettings) {
    this.#createConnection = createConnection;
    this.#settings = settings;
    const { target, tls } = settings;
    const { setup, compress, cleartext, multiple, timeout, attributes } = sessionParameters(target.parameters);
    this.#setup = setup;
    this.#candidates = target.addresses.flatMap((address): Candidate[] =>
      'socketPath' in address ? [{ address, tls: false }] : tls.map((choice) => ({ address, tls: choice })),
    );
    this.#options = {
      ...(target.user !== undefined && { user: target.user }),
      ...(target.password !== undefined && { password: target.password }),
      ...(target.database !== undefined && { database: target.database }),
      connectTimeout: timeout ?? CONNECT_TIMEOUT_MS,
      connectAttributes: { program_name: 'strongroom', ...attributes },
      compress,
      enableCleartextPlugin: cleartext,
      multipleStatements: multiple,
      // A server must not be able to ask for files of ours.
      flags: ['-LOCAL_FILES'],
    };
  }

  /** Throws ConnectionLost, which says for each host what happened. */
  async dial(): Promise<Connection> {
    const failures: string[] = [];
    const logins = new Set<LoginFailure>();
    // Other calls move the mark meanwhile.
    const first = this.#next;
    for (let tried = 0; tried < this.#candidates.length; tried++) {
      const index = (first + tried) % this.#candidates.length;
      const candidate = this.#candidates[index]!;
      try {
        const connection = await this.#connect(candidate);
        this.#next = index;
        return connection;
      } catch (error) {
        const text = `${addressText(candidate.address)}: ${errorText(error)}`;
        const goesOnInClear = (error as { code?: unknown }).code === 'HANDSHAKE_NO_SSL_SUPPORT' && this.#settings.tls.includes(false);
        if (!goesOnInClear && !failures.includes(text)) failures.push(text);
        logins.add(loginFailure(error));
        if (!isConnectionError(error)) break;
      }
    }
    throw new ConnectionLost(hideSecrets(failures.join('; '), this.#settings.secrets), {
      login: (['credential', 'barred'] as const).find((failure) => logins.has(failure)) ?? 'unreachable',
    });
  }

  async #connect({ address, tls }: Candidate): Promise<Connection> {
    const connection = this.#createConnection({ ...this.#options, ...this.#route(address, tls) });
    // Of errors of an idle connection the pool hears.
    connection.on('error', () => undefined);
    try {
      await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())));
      for (const statement of this.#setup) await query(connection, statement);
      const [row] = await query(connection, 'SELECT @@SESSION.sql_mode AS mode');
      const modes = String(row?.['mode'] ?? '').split(',');
      if (modes.includes(NO_BACKSLASH_ESCAPES))
        await query(connection, `SET SESSION sql_mode = '${modes.filter((mode) => mode !== NO_BACKSLASH_ESCAPES).join(',')}'`);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  #route(address: MysqlAddress, tls: TlsChoice): ConnectionOptions {
    if ('socketPath' in address) return { socketPath: address.socketPath };
    const { host, port } = address;
    // The driver checks certificates for its `host`, which need not be where the connection goes.
    return { host: this.#settings.serverName ?? host, port, stream: () => socketTo(host, port), ...(tls && { ssl: { ...tls } }) };
  }
}

function addressText(address: MysqlAddress): string {
  return 'socketPath' in address ? address.socketPath : `${address.host}:${address.port}`;
}

function socketTo(host: string, port: number): Socket {
  const socket = connect(port, host).setNoDelay(true).setKeepAlive(true);
  // Names a certificate is checked for: the driver passes host names on, but not addresses. Node reads them here.
  return isIP(host) ? Object.assign(socket, { _host: host }) : socket;
}
