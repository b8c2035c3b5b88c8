import type { Connection } from 'tedious';
import { ConnectionLost, type LoginFailure, redact } from '@strongroom/database-sdk';
import type { ConnectionTarget } from './connection-string.ts';
import { driverOptions, type Encryption } from './driver-options.ts';
import { errorText, loginFailure } from './server-error.ts';

type Driver = Pick<typeof import('tedious'), 'Connection' | 'Request'>;
export type Row = Readonly<Record<string, unknown>>;

export interface DialSettings {
  readonly target: ConnectionTarget;
  readonly encryption: Encryption;
  readonly tlsCa: string | undefined;
  readonly secrets: Readonly<Record<string, string>>;
}

/** One connection to the server. */
export class MssqlConnectionHandle {
  readonly #connection: Connection;
  readonly #requestClass: Driver['Request'];

  constructor(connection: Connection, requestClass: Driver['Request']) {
    this.#connection = connection;
    this.#requestClass = requestClass;
    // Errors of an idle connection come with its end, which the pool hears of.
    connection.on('error', () => undefined);
  }

  /** Runs one batch as text. What holds a password is never prepared, nor passed to a procedure. */
  batch(sql: string): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const rows: Row[] = [];
      const request = new this.#requestClass(sql, (error) => (error ? reject(error) : resolve(rows)));
      request.on('row', (columns: { metadata: { colName: string }; value: unknown }[]) => {
        rows.push(Object.fromEntries(columns.map(({ metadata, value }) => [metadata.colName, value])));
      });
      this.#connection.execSqlBatch(request);
    });
  }

  onEnd(listener: () => void): void {
    this.#connection.on('error', listener).on('end', listener);
  }

  /** Asks the server to stop what runs. */
  cancel(): void {
    this.#connection.cancel();
  }

  close(): void {
    this.#connection.close();
  }
}

/** Makes connections: tries the server and its failover partner, starting with what worked last. */
export class Dialer {
  readonly #driver: Driver;
  readonly #settings: DialSettings;
  #next = 0;

  constructor(driver: Driver, settings: DialSettings) {
    this.#driver = driver;
    this.#settings = settings;
  }

  /** Throws ConnectionLost, which says for each address what happened. */
  async dial(): Promise<MssqlConnectionHandle> {
    const { addresses } = this.#settings.target;
    const failures: string[] = [];
    const logins = new Set<LoginFailure>();
    // Other calls move the mark meanwhile.
    const first = this.#next;
    for (let tried = 0; tried < addresses.length; tried++) {
      const index = (first + tried) % addresses.length;
      const { host, port, instance } = addresses[index]!;
      try {
        const handle = await this.#connect(index);
        this.#next = index;
        return handle;
      } catch (error) {
        logins.add(loginFailure(error));
        failures.push(
          `${host}${instance === undefined ? '' : `\\${instance}`}${port === undefined ? '' : `:${port}`}: ${errorText(error)}`,
        );
      }
    }
    throw new ConnectionLost(redact(failures.join('; '), this.#settings.secrets), {
      login: (['credential', 'barred'] as const).find((failure) => logins.has(failure)) ?? 'unreachable',
    });
  }

  async #connect(index: number): Promise<MssqlConnectionHandle> {
    const { target, encryption, tlsCa } = this.#settings;
    const connection = new this.#driver.Connection(driverOptions(target, target.addresses[index]!, encryption, tlsCa));
    if (encryption.required && encryption.encrypt !== 'strict') insistOnEncryption(connection);
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())));
    return new MssqlConnectionHandle(connection, this.#driver.Request);
  }
}

/** The driver goes on in clear, password and all, where a server (or somebody on the way) says that it cannot encrypt. */
function insistOnEncryption(connection: Connection): void {
  let secure = false;
  connection.on('secure', () => (secure = true));
  const driver = connection as unknown as { sendLogin7Packet(): void };
  const send = driver.sendLogin7Packet.bind(connection);
  driver.sendLogin7Packet = () => {
    if (!secure) throw new Error('the server does not offer encryption, which the settings ask for');
    send();
  };
}
