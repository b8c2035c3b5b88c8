import { createServer, type Server } from 'node:net';
import { Connection, type ConnectionConfiguration } from 'tedious';
import {
  databaseChanged,
  done,
  errorToken,
  loginAck,
  resultSet,
  type ResultRow,
  transactionBegun,
  transactionEnded,
} from './tds-tokens.ts';
import {
  encryptionWish,
  ENCRYPT,
  type Identity,
  type Login,
  PACKET,
  preloginAnswer,
  readBatch,
  readLogin,
  TdsConnection,
} from './tds-connection.ts';
import { shapeOf, statementsOf, SyntaxProblem, type Token } from './tsql-lexer.ts';

interface Account {
  password: string;
  disabled: boolean;
  /** `CONNECT SQL` is denied to the login, or `CONNECT` to the contained user. */
  denied?: boolean;
}

/** One client that has logged in. */
interface Session {
  readonly id: number;
  readonly login: Login;
  readonly connection: TdsConnection;
  database: string;
  /** How to take back what its transaction did; undefined outside of one. */
  undo: (() => void)[] | undefined;
  /** Ends a WAITFOR. */
  wake: (() => void) | undefined;
}

class SqlError extends Error {
  readonly number: number;

  constructor(number: number, message: string) {
    super(message);
    this.number = number;
  }
}

export interface DoubleOptions {
  /** Offers encryption with this certificate, as every SQL Server does; without it, encryption is refused. */
  readonly identity?: Identity;
  /** Accounts are users of one contained database instead of logins. */
  readonly contained?: boolean;
}

/**
 * What stands in for SQL Server where none can run: it speaks TDS on a real port to the real driver, keeps accounts, transactions and sessions,
 * and understands the statements of these tests. What SQL Server itself makes of a statement it cannot show.
 */
export class SqlServerDouble {
  readonly superuser = 'sa';
  readonly password = 'Root-pw-7Qz!';
  /** Every batch that a session sent, without those with which the driver begins. */
  readonly batches: string[] = [];
  /** Users of databases, `database/user`, with the login that they belong to. */
  readonly users = new Map<string, string>();
  readonly accounts = new Map<string, Account>([['sa', { password: this.password, disabled: false }]]);
  /** Databases, and whether the managing user may look into them. */
  readonly databases = new Map<string, boolean>([
    ['master', true],
    ['app', true],
    ["odd ] o'db", true],
    ['secret', false],
  ]);
  /** Statements that fail, by a part of their text, and with what. */
  readonly failures = new Map<string, { number: number; message: string }>();
  /** How often somebody asked to stop a batch. */
  attentions = 0;
  /** Passwords that came without encryption around them. */
  readonly inClear: string[] = [];
  port = 0;
  readonly #options: DoubleOptions;
  readonly #sessions = new Map<number, Session>();
  readonly #connections = new Set<TdsConnection>();
  #server: Server | undefined;
  #nextId = 51;

  constructor(options: DoubleOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const server = createServer((socket) => {
      let session: Session | undefined;
      const connection = new TdsConnection(socket, {
        message: (type, payload) => void (session = this.#message(connection, session, type, payload)),
        closed: () => {
          this.#connections.delete(connection);
          if (session) this.#end(session);
        },
      });
      this.#connections.add(connection);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as { port: number }).port;
    server.unref();
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const connection of this.#connections) connection.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Application names of those who are logged in. */
  get apps(): string[] {
    return [...this.#sessions.values()].map(({ login }) => login.appName);
  }

  get encrypted(): boolean[] {
    return [...this.#sessions.values()].map(({ connection }) => connection.encrypted);
  }

  /** Logs in with the driver, as an application would. */
  async login(userName: string, password: string): Promise<Connection> {
    const config: ConnectionConfiguration = {
      server: '127.0.0.1',
      authentication: { type: 'default', options: { userName, password } },
      options: {
        serverName: 'ip-address.invalid',
        port: this.port,
        encrypt: this.#options.identity !== undefined,
        trustServerCertificate: true,
        appName: 'application',
      },
    };
    const connection = new Connection(config);
    connection.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())));
    return connection;
  }

  #message(connection: TdsConnection, session: Session | undefined, type: number, payload: Buffer): Session | undefined {
    if (type === PACKET.prelogin) this.#prelogin(connection, payload);
    else if (type === PACKET.login) return this.#login(connection, readLogin(payload));
    else if (!session) connection.destroy();
    else if (type === PACKET.attention) {
      this.attentions++;
      session.wake?.();
      connection.answer(done('attention'));
    } else if (type === PACKET.batch) this.#batch(session, readBatch(payload).sql);
    else
      connection.answer(errorToken({ number: 50_000, severity: 16, message: `packets of type ${type} are not expected` }), done('error'));
    return session;
  }

  #prelogin(connection: TdsConnection, payload: Buffer): void {
    const { identity } = this.#options;
    const encrypts = identity !== undefined && encryptionWish(payload) !== ENCRYPT.notSupported;
    connection.send(PACKET.answer, preloginAnswer(encrypts ? ENCRYPT.on : identity ? ENCRYPT.required : ENCRYPT.notSupported));
    if (encrypts) connection.startTls(identity);
  }

  #login(connection: TdsConnection, login: Login): Session | undefined {
    if (!connection.encrypted) this.inClear.push(login.password);
    const account = this.accounts.get(login.username);
    const refused = `Login failed for user '${login.username}'.`;
    const refuse = (number: number, message: string): void =>
      connection.answer(errorToken({ number, severity: 14, message }), done('error'));
    if (account?.password !== login.password || account.denied) return void refuse(18_456, refused);
    if (account.disabled) return void refuse(18_470, `${refused} Reason: The account is disabled.`);
    const session: Session = {
      id: this.#nextId++,
      login,
      connection,
      database: login.database || 'master',
      undo: undefined,
      wake: undefined,
    };
    this.#sessions.set(session.id, session);
    connection.answer(databaseChanged(session.database, 'master'), loginAck(), done('final'));
    return session;
  }

  #end(session: Session): void {
    this.#sessions.delete(session.id);
    session.wake?.();
    this.#rollBack(session);
  }

  #rollBack(session: Session): void {
    for (const step of (session.undo ?? []).reverse()) step();
    session.undo = undefined;
  }

  #batch(session: Session, sql: string): void {
    if (/^\s*set ansi_nulls on/i.test(sql)) return session.connection.answer(done('final'));
    this.batches.push(sql);
    try {
      const waiting = /WAITFOR DELAY '[\d:]+'/.test(sql);
      if (waiting) {
        // A batch that is stopped is answered before the attention is.
        session.wake = () => {
          session.wake = undefined;
          session.connection.answer(done('final'));
        };
        return;
      }
      for (const [part, { number, message }] of this.failures) if (sql.includes(part)) throw new SqlError(number, message);
      let answer: Buffer[] = [];
      for (const tokens of statementsOf(sql)) answer = this.#statement(session, sql, tokens);
      session.connection.answer(...answer, done('final'));
    } catch (error) {
      if (!(error instanceof SqlError || error instanceof SyntaxProblem)) throw error;
      const number = error instanceof SqlError ? error.number : 102;
      session.connection.answer(errorToken({ number, severity: 15, message: error.message }), done('error'));
    }
  }

  #statement(session: Session, sql: string, tokens: readonly Token[]): Buffer[] {
    const values = tokens.filter(({ kind }) => kind === 'name' || kind === 'text').map(({ value }) => value);
    const [first = '', second = ''] = values;
    switch (shapeOf(tokens)) {
      case 'BEGIN TRANSACTION':
        session.undo = [];
        return [transactionBegun(DESCRIPTOR)];
      case 'COMMIT TRANSACTION':
        session.undo = undefined;
        return [transactionEnded('committed', DESCRIPTOR)];
      case 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION':
        if (!session.undo) return [];
        this.#rollBack(session);
        return [transactionEnded('rolled back', DESCRIPTOR)];
      case 'CREATE LOGIN <name> WITH PASSWORD = <text>':
        this.#create(session, first, second, 15_025, `The server principal '${first}' already exists.`);
        return [];
      case 'CREATE USER <name> WITH PASSWORD = <text>':
        this.#create(session, first, second, 15_023, `User, group, or role '${first}' already exists in the current database.`);
        return [];
      case 'CREATE USER <name> FOR LOGIN <name>':
        if (!this.accounts.has(second)) throw new SqlError(15_007, `'${second}' is not a valid login or you do not have permission.`);
        this.#set(session, this.users, `${session.database}/${first}`, second);
        return [];
      case 'ALTER LOGIN <name> WITH PASSWORD = <text>':
      case 'ALTER USER <name> WITH PASSWORD = <text>':
        this.#set(session, this.accounts, first, { ...this.#account(first), password: second });
        return [];
      case 'DENY CONNECT TO <name>':
        this.#deny(session, first, this.#options.contained === true);
        return [];
      case 'DENY CONNECT SQL TO <name>':
        this.#denyServer(session, session.database, first);
        return [];
      case 'ALTER LOGIN <name> DISABLE':
        // Users of a contained database are no logins.
        this.#set(session, this.accounts, first, { ...this.#account(this.#options.contained ? '' : first), disabled: true });
        return [];
      case 'DROP LOGIN <name>':
        this.#account(first);
        if ([...this.#sessions.values()].some(({ login }) => login.username === first))
          throw new SqlError(15_434, `Could not drop login '${first}' as the user is currently logged in.`);
        this.#set(session, this.accounts, first, undefined);
        return [];
      case 'DROP USER <name>':
        if (this.#options.contained) {
          this.#account(first);
          this.#set(session, this.accounts, first, undefined);
        } else this.#dropUser(session, session.database, first);
        return [];
      case 'EXEC <name> . SYS . SP_EXECUTESQL <text>': {
        const [inner] = statementsOf(second);
        const shape = shapeOf(inner!);
        if (shape === 'DENY CONNECT SQL TO <name>') this.#denyServer(session, first, inner!.at(-1)!.value);
        else if (shape === 'DROP USER <name>') this.#dropUser(session, first, inner![2]!.value);
        else throw new SqlError(102, 'Incorrect syntax.');
        return [];
      }
      case 'USE <name>': {
        const before = session.database;
        if (!this.databases.has(first)) throw new SqlError(911, `Database '${first}' does not exist.`);
        session.database = first;
        return [databaseChanged(first, before)];
      }
    }
    if (/^GRANT .* TO <name>$/.test(shapeOf(tokens))) return [];
    if (/^KILL \d+$/.test(shapeOf(tokens))) {
      if (session.undo) throw new SqlError(6115, 'KILL command cannot be used inside user transactions.');
      if (Number(tokens[1]!.value) === session.id) throw new SqlError(6104, 'Cannot use KILL to kill your own process.');
      const killed = this.#sessions.get(Number(tokens[1]!.value));
      if (!killed) throw new SqlError(6106, `Process ID ${tokens[1]!.value} is not an active process ID.`);
      killed.connection.destroy();
      return [];
    }
    if (tokens[0]?.value === 'SELECT') return [this.#select(session, sql, values)];
    throw new SqlError(2812, `Could not find stored procedure '${tokens[0]?.value ?? ''}'.`);
  }

  #create(session: Session, name: string, password: string, number: number, taken: string): void {
    if (this.accounts.has(name)) throw new SqlError(number, taken);
    this.#set(session, this.accounts, name, { password, disabled: false });
  }

  #account(name: string): Account {
    const account = this.accounts.get(name);
    if (!account) throw new SqlError(15_151, `Cannot alter the login '${name}', because it does not exist or you do not have permission.`);
    return account;
  }

  /** Permissions of the server are changed in `master` alone, and of a contained database there. */
  #denyServer(session: Session, database: string, name: string): void {
    if (database !== 'master')
      throw new SqlError(4621, 'Permissions at the server scope can only be granted when the current database is master');
    this.#deny(session, name, this.#options.contained !== true);
  }

  #deny(session: Session, name: string, isKnownHere: boolean): void {
    if (name === 'sa' || name === session.login.username)
      throw new SqlError(4624, 'Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or yourself.');
    const account = isKnownHere ? this.accounts.get(name) : undefined;
    if (!account) throw new SqlError(15_151, `Cannot find the user '${name}', because it does not exist or you do not have permission.`);
    this.#set(session, this.accounts, name, { ...account, denied: true });
  }

  #dropUser(session: Session, database: string, name: string): void {
    if (!this.users.has(`${database}/${name}`)) throw new SqlError(15_151, `Cannot drop the user '${name}', because it does not exist.`);
    this.#set(session, this.users, `${database}/${name}`, undefined);
  }

  #set<T>(session: Session, map: Map<string, T>, key: string, value: T | undefined): void {
    const before = map.get(key);
    const put = (what: T | undefined): void => void (what === undefined ? map.delete(key) : map.set(key, what));
    put(value);
    session.undo?.push(() => put(before));
  }

  /** The queries of the plugin, distinguished by what they read from. */
  #select(session: Session, sql: string, values: readonly string[]): Buffer {
    const texts = (column: string, found: Iterable<string>): Buffer =>
      resultSet(
        [column],
        [...found].sort().map((name) => ({ [column]: name })),
        new Set(),
      );
    const numbers = (column: string, found: readonly number[]): Buffer =>
      resultSet(
        [column],
        found.map((id) => ({ [column]: id })),
        new Set([column]),
      );
    if (sql === 'SELECT 1 AS one') return numbers('one', [1]);
    if (sql.includes('sys.dm_exec_sessions'))
      return numbers(
        'session_id',
        [...this.#sessions.values()].filter(({ id, login }) => id !== session.id && values.includes(login.username)).map(({ id }) => id),
      );
    if (sql.includes('sys.databases'))
      return texts(
        'name',
        [...this.databases].flatMap(([name, open]) => (open ? [name] : [])),
      );
    const prefix = /CHARINDEX/.test(sql) ? values[1]! : undefined;
    if (prefix !== undefined)
      return texts(
        'name',
        [...this.accounts.keys()].filter((name) => name.startsWith(prefix)),
      );
    if (sql.includes('1 = 1')) return texts('name', this.accounts.keys());
    if (sql.startsWith('SELECT 1 AS found')) return numbers('found', this.accounts.has(values.at(-1)!) ? [1] : []);
    if (sql.startsWith('SELECT name')) return texts('name', this.accounts.has(values.at(-1)!) ? [values.at(-1)!] : []);
    if (sql.includes('].sys.database_principals')) {
      const login = values.at(-1)!;
      const rows = [...this.users].flatMap(([key, owner]): ResultRow[] => {
        const slash = key.lastIndexOf('/');
        const [db, name] = [key.slice(0, slash), key.slice(slash + 1)];
        const theirs = this.accounts.has(login) ? owner === login : name === login;
        return theirs && this.databases.get(db) ? [{ db, name }] : [];
      });
      return resultSet(['db', 'name'], rows, new Set());
    }
    throw new SqlError(208, 'Invalid object name.');
  }
}

const DESCRIPTOR = Buffer.from('0100000035000000', 'hex');
