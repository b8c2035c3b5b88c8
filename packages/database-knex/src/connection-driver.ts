/** What a pool wants of a database's driver. `Connection` is the driver's own. */
export interface ConnectionDriver<Connection extends object> {
  /** The name of knex's client for the database: `pg`, `mysql2`, `mssql`. */
  readonly client: string;
  /** Makes a connection that is ready for statements. Errors of it that come later must not be unhandled. */
  dial(): Promise<Connection>;
  /** Calls the listener when the connection is lost or closed, whoever did it; maybe more than once. Absent: listens to its events `error` and `end`. */
  onEnd?(connection: Connection, listener: () => void): void;
  /** Takes leave of a server that the connection is idle with. */
  end(connection: Connection): Promise<void>;
  /** Closes a connection at once; what runs on it fails. Must not throw. */
  destroy(connection: Connection): void;
  /** Asks the server to stop what the connection runs. Where it rejects, or nothing ends within two seconds, or it is absent, the connection is destroyed. */
  cancel?(connection: Connection): void | Promise<void>;
  /** Whether a connection on which a call failed with this error is of no use to others. Absent: always. */
  isLost?(error: unknown): boolean;
  /** Whether a connection that comes back is as a new one, outside of transactions. Absent: always. */
  isClean?(connection: Connection): boolean;
}
