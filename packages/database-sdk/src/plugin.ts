import type { Static, TObject } from 'typebox';

/** What a database user proves itself with. The host makes it; the plugin only installs its public side. */
export type Credential =
  | { type: 'password'; password: string }
  /** `publicKey` is PEM (SPKI). The private half stays with the host. */
  | { type: 'rsa_private_key'; publicKey: string }
  /** `subject` is what the certificate's subject says, RFC 4514 (`CN=v-app-…`). */
  | { type: 'client_certificate'; subject: string };

/** The kinds of credentials that users of databases have. */
export type CredentialType = Credential['type'];

/** An operator's statements, as stored. Empty means: the plugin's own default, or a refusal where it has none. */
export interface Statements {
  readonly commands: readonly string[];
}

/** What every call about a user carries. */
export interface UserRequest {
  readonly username: string;
  readonly statements: Statements;
  /** The host's deadline. A call rejects promptly, with `signal.reason`, once it is aborted. */
  readonly signal: AbortSignal;
}

/** A user to create. */
export interface CreateUserRequest extends UserRequest {
  readonly credential: Credential;
  /** When the user stops being valid; already includes the host's slack. */
  readonly expiresAt: Date;
  /** The role's rollback statements, to run if creation fails half-way. */
  readonly rollback: Statements;
}

/** A user whose credential is to be replaced. */
export interface UpdateUserRequest extends UserRequest {
  readonly credential: Credential;
}

/** A user who is to stay valid for longer. */
export interface RenewUserRequest extends UserRequest {
  readonly expiresAt: Date;
}

/** What becomes of what a user owns when it is removed. `reassign` leaves it to the user of the connection. */
export type OwnedObjects = 'fail' | 'reassign' | 'drop';

/** A user to remove. */
export interface DeleteUserRequest extends UserRequest {
  /**
   * Shut the login first, and end the user's sessions, as far as the database can; what the managing user may not do keeps the user from nothing else.
   * Absent: sessions that are open may go on.
   */
  readonly endSessions?: boolean;
  /** Only where the plugin `supports` it, and only without statements. Absent: `fail`. */
  readonly ownedObjects?: OwnedObjects;
}

/** A creation that is only looked at. `credential` holds sample values. */
export type PreviewRequest = Pick<CreateUserRequest, 'username' | 'statements' | 'credential' | 'expiresAt'>;

/** Which users to list. */
export interface ListUsersRequest {
  /** Only names that begin so, compared as the database compares names; '' for all. */
  readonly prefix: string;
  readonly signal: AbortSignal;
}

/** Where the settings of a connection lead, and as whom. */
export interface ConnectionIdentity {
  /**
   * The server or cluster, in canonical form: `postgresql://db.corp.example:5432`. Settings that lead to the same users give the same text, whatever
   * database they name. It holds no credentials.
   */
  readonly system: string;
  /** The user that the connection logs in as; undefined where it is not known by name. */
  readonly username: string | undefined;
}

/** How busy a session's connections are. */
export interface PoolStatus {
  readonly open: number;
  readonly idle: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  readonly limit: number;
}

/** One line of the plugin's log. Never pass a secret; the host masks those it knows, but it does not know all. */
export interface DatabaseLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What the host lends a plugin. Deadlines, error prefixes, metrics and redaction stay with the host. */
export interface DatabaseHost {
  readonly log: DatabaseLog;
  /** The host's clock, which tests move. */
  now(): Date;
}

/**
 * One kind of database. A value: importing it does nothing, and drivers are loaded inside `open`.
 * The host checks `apiVersion` before it calls anything.
 */
export interface DatabasePlugin<C extends TObject = TObject> {
  readonly kind: 'database';
  /** What operators write as `plugin_name`; kebab case, by custom ending in `-database-plugin`. */
  readonly name: string;
  /** The plugin's own version (semver), for hosts with several versions of one plugin. */
  readonly version?: string;
  readonly apiVersion: 2;
  /**
   * Schema of what `config/<name>` takes beyond the host's own fields. A field that holds a secret is annotated `secret: true` and is
   * never echoed; one that holds a URL or DSN is annotated `connectionUrl: true` and is echoed with its password masked.
   *
   * Who changes where stored secrets are sent must know them. Every field that is not secret counts as such an address, and a trust anchor does too;
   * `address: false` exempts a field that cannot send a secret elsewhere, `address: true` adds a secret one, and `safe: true` (any value) is the value that
   * a field may be changed to without ado, because it makes the connection safer only.
   *
   * `rotate-root` needs the text fields `username` and `password`; it stores the new password in `password`.
   */
  readonly connection: C;
  /**
   * Where the code is that runs for the plugin: names of packages, the driver's above all, and folders as `file:` URLs
   * (`new URL('.', import.meta.url).href`). An exception that nobody catches is then known for the plugin's by its stack. Absent: the host follows all
   * that the plugin begins, which before Node 24 makes every promise of the process a little dearer.
   */
  readonly code?: readonly string[];
  readonly supports: {
    readonly credentials: readonly CredentialType[];
    /** `native`: the database itself refuses an expired user. `lease-only`: only the host's revocation does, and `renewUser` may be absent. */
    readonly expiry: 'native' | 'lease-only';
    readonly statements: 'sql' | 'json';
    /** `deleteUser` can reassign or drop what a user owns. */
    readonly ownedObjects?: boolean;
    /** Sessions have `changeOwnPassword`, so that a connection may be `self_managed`. Its settings need the text fields `username` and `password`; where such a connection is only checked, both hold a stand-in. */
    readonly selfManaged?: boolean;
  };
  /**
   * Where the settings lead and as whom, seen without connecting. Throws ConfigurationInvalid. It keeps two roles or mounts from changing the password of one
   * account. Absent: the text of the address fields, and `username`.
   */
  identify?(config: Static<C>): ConnectionIdentity;
  /**
   * The canonical form of a user name, where the database takes several for one user, or where the same name is another user under other statements.
   * Absent: names are taken as they are.
   */
  canonicalUser?(user: Pick<UserRequest, 'username' | 'statements'>, config: Static<C>): string;
  /** Default template for user names, fitted to this database's limit on names. */
  readonly usernameTemplate: string;
  /** The longest user name that the database takes, in characters. Absent: no limit worth naming. */
  readonly usernameMaxLength?: number;
  /**
   * What `createUser` would send, in order, by the same rendering. Nothing is executed and nothing is connected to. Throws StatementInvalid.
   * Absent: roles on this plugin have no preview.
   */
  preview?(request: PreviewRequest): readonly string[];
  /**
   * What operators must know of the users that this database makes, whole sentences: of those that `creation` makes, where a role is written, and in
   * general, where a connection is. The host answers such writes with them as warnings. Nothing is connected to. Absent: nothing.
   */
  cautions?(creation?: Statements): readonly string[];
  /** Checks `config` and prepares. Must not connect: `verify` does. Throws ConfigurationInvalid for what can be seen without connecting. */
  open(config: Static<C>, host: DatabaseHost): Promise<DatabaseSession>;
}

/** A further password for a user. */
export interface AddPasswordRequest {
  readonly username: string;
  /** The new one. */
  readonly credential: Credential;
  /** The password that is good now and stays so: every other one ends with this change. Absent: it is not known, and what is good stays so. */
  readonly current?: Credential;
  readonly signal: AbortSignal;
}

/** The end of the passwords that were replaced. */
export interface EndPasswordsRequest {
  readonly username: string;
  /** The password that stays. */
  readonly credential: Credential;
  /** The one that ends. Absent: it is not known, and every one but `credential` ends. */
  readonly ends?: Credential;
  readonly signal: AbortSignal;
}

/** A user that changes its own password, in a session that is logged in as that user. */
export interface ChangeOwnPasswordRequest extends UpdateUserRequest {
  /** The password that the session has logged in with. */
  readonly current: Credential;
}

/** What a database does that takes two passwords of one user at a time. */
export interface TwoPasswords {
  /** Whether this server can: plugins serve versions that cannot. May connect. */
  supported(signal: AbortSignal): Promise<boolean>;
  /** Makes a new password good; the one that was good stays so. An unknown user is an error. May be asked for again with the same password. */
  add(request: AddPasswordRequest): Promise<void>;
  /** Ends what `add` has replaced. May be asked for again; an absent user is success. */
  end(request: EndPasswordsRequest): Promise<void>;
}

/** An open connection (or pool) to one database. Calls may overlap. After `close`, every other call rejects with SessionClosed. */
export interface DatabaseSession {
  /** Connects and logs in. Throws VerificationFailed. */
  verify(signal: AbortSignal): Promise<void>;
  /** All or nothing as far as the database can; where it cannot, the `rollback` statements run before the call rejects. */
  createUser(request: CreateUserRequest): Promise<void>;
  /** Replaces the credential of an existing user. An unknown user is an error. */
  updateUser(request: UpdateUserRequest): Promise<void>;
  /** Moves the native expiry. Absent where the database knows none. */
  renewUser?(request: RenewUserRequest): Promise<void>;
  /** An absent user is success: revocation is retried and must converge. */
  deleteUser(request: DeleteUserRequest): Promise<void>;
  /**
   * Takes the login of a user away and ends its sessions, as far as the database can: for users that cannot be removed yet. An absent user is
   * success. Absent: such users keep their login until they are removed.
   */
  disableUser?(request: Pick<UserRequest, 'username' | 'signal'>): Promise<void>;
  /** The names of the users that the database has, those that log in. Absent: orphans cannot be looked for. */
  listUsers?(request: ListUsersRequest): Promise<readonly string[]>;
  /** Replaces the password of the user that the session has logged in as, with that user's own rights. Absent: static roles need a user that manages theirs. */
  changeOwnPassword?(request: ChangeOwnPasswordRequest): Promise<void>;
  /** Two passwords of one user. Absent: a user has one, and static roles have no `grace_period`. */
  readonly twoPasswords?: TwoPasswords;
  /** A snapshot for operators; does not connect. Absent where the driver pools nothing. */
  pool?(): PoolStatus;
  /** Idempotent. */
  close(): Promise<void>;
}
