import { BadRequest, InvalidRequest, type EngineHost, type ManagedAccount, type Transaction } from '@strongroom/engine-sdk';
import type { Credential } from '@strongroom/database-sdk';
import {
  creationOpen,
  nextRotation,
  ownState,
  requireProven,
  retriedAfter,
  Rotation,
  type Change,
  type Ending,
  type ImportedPassword,
  type Proof,
} from '@strongroom/rotation';
import { DatabaseFailed, DatabaseMisused, detailOf, outcomeOf } from './call-failed.ts';
import { ConnectionUsers, staticRoleCalled } from './connection-users.ts';
import type { Connections, NamedConnection } from './connections.ts';
import { pluginCredential, type CredentialMaker, type MadeCredential } from './credential-maker.ts';
import { openAs, proveLogin } from './login-proof.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import { handedOut, nextUser, usersOf } from './static-pair.ts';

/** A certificate outlives its rotation by this much, so that clients have the time to fetch the next one. Milliseconds. */
const CERTIFICATE_OVERLAP = 86_400_000;
/** How long a certificate is good for that is rotated on demand alone. Milliseconds. */
const UNPLANNED_CERTIFICATE = 365 * 86_400_000;

/** The password that a user has now, who changes it by itself. */
export interface SelfManaged {
  readonly password: string;
  /** Leave it until the plan brings the first rotation. */
  readonly skipRotation: boolean;
}

type StaticChange = Change<StaticRoleRecord, MadeCredential>;

/** Users of the database's own whose credential is rotated. */
export class StaticUsers {
  readonly rotation: Rotation<StaticRoleRecord, MadeCredential>;
  readonly #host: EngineHost;
  readonly #connections: Connections;
  readonly #credentials: CredentialMaker;

  constructor(host: EngineHost, connections: Connections, credentials: CredentialMaker) {
    this.#host = host;
    this.#connections = connections;
    this.#credentials = credentials;
    this.rotation = new Rotation(host, {
      kind: 'rotate-static-role',
      noun: 'static role',
      about: (name) => ({ noun: 'static role', name, path: `static-roles/${name}`, retry: `rotate-role/${name}` }),
      reported: (name) => ({ name, paths: [`static-creds/${name}`, `static-roles/${name}`] }),
      lens: ownState<StaticRoleRecord, MadeCredential>(),
      records: (storage) => recordsIn(storage).staticRoles,
      plan: (role) => role,
      target: (_name, role) => role.db_name,
      make: async (name, role) => this.#make(name, role),
      apply: async (change) => this.#apply(change),
      outcomeOf,
      unreached: (error) => error instanceof DatabaseFailed && error.login === 'unreachable',
      messageOf: detailOf,
      prove: async (change) => this.#prove(change),
      unproven: (_name, role, text) => new DatabaseFailed(role.db_name, text, 'unknown', { answered: true }),
      claims: {
        by: staticRoleCalled,
        called: ({ username }) => username,
        identify: async (_name, role) => {
          const record = await recordsIn(host.storage).connections.get(role.db_name);
          return record && this.#account({ name: role.db_name, record }, role, role.username);
        },
        beside: ({ usernames, second_account: account }) => (account ? [{ account, called: usernames![1]! }] : []),
      },
      grace: {
        lasts: ({ grace_period = 0 }) => grace_period * 1_000,
        end: async (ending) => this.#endReplaced(ending),
      },
      ofItself: ({ self_managed: isSelfManaged = false }) => isSelfManaged,
      apart: ({ usernames }) => usernames !== undefined,
      subject: (role) => `the ${role.credential_type} of ${usersOf(role).join(' and ')} in ${role.db_name}`,
      missing: () => new InvalidRequest('no static role found for role name'),
    });
  }

  /** Stores a new role and rotates its credential, which nobody else knows then. Resolves with a warning where not all went well. */
  async create(name: string, role: StaticRoleRecord, signal: AbortSignal, adopt: boolean): Promise<string | undefined> {
    const rotated = nextUser(role);
    const unlisted = role.usernames && (await this.#unlisted(await this.#connections.require(role.db_name), role, [rotated], signal));
    const warning = await this.rotation.create(name, role, signal, { check: async (tx) => requireUnique(tx, name), adopt });
    return [unlisted, warning].filter((text) => text !== undefined).join('; ') || undefined;
  }

  /**
   * Stores a new role whose credential stays as it is until its plan brings the first rotation. A password is proven by a login first. Resolves with a
   * warning where the database does not list the user. @throws BadRequest for a password that no login proves
   */
  async createUnrotated(
    name: string,
    role: StaticRoleRecord,
    given: ImportedPassword,
    signal: AbortSignal,
    adopt: boolean,
  ): Promise<string | undefined> {
    const { password } = given;
    const connection = await this.#connections.require(role.db_name);
    if (password !== undefined && given.verify) await this.#requireProof(connection, role, 'password', password, signal);
    const known = password === undefined ? [] : [handedOut(role)];
    const warning = await this.#unlisted(connection, role, known, signal);
    const made: MadeCredential | undefined =
      password === undefined ? undefined : { ...knownPassword(password), ...owner(role, role.username) };
    await this.#host.storage.transaction(async (tx) => {
      const before = await recordsIn(tx).staticRoles.get(name);
      if (before) throw creationOpen(`role ${name}`, before, this.#host.clock.millis());
      const record = made ? { ...role, current: made } : role;
      await this.rotation.adopt(tx, name, record, { check: async (inside) => requireUnique(inside, name), adopt });
    });
    return warning;
  }

  /**
   * Stores a new role whose user changes its own password, which is proven by a login first, and rotates it unless that is skipped. Resolves with a warning
   * where not all went well. @throws BadRequest for a password that no login proves
   */
  async createSelfManaged(
    name: string,
    role: StaticRoleRecord,
    given: SelfManaged,
    signal: AbortSignal,
    adopt: boolean,
  ): Promise<string | undefined> {
    await this.requireOwnPassword(role, given.password, signal);
    await this.#host.storage.transaction(async (tx) => {
      const { staticRoles } = recordsIn(tx);
      const before = await staticRoles.get(name);
      if (before) throw creationOpen(`role ${name}`, before, this.#host.clock.millis());
      const record = withOwnPassword(role, given.password);
      await this.rotation.adopt(tx, name, record, { check: async (inside) => requireUnique(inside, name), adopt });
      if (!given.skipRotation) await this.rotation.demand(tx, name, (await staticRoles.get(name))!);
    });
    return given.skipRotation ? undefined : this.#firstOwnRotation(role.db_name, name, signal);
  }

  /** What cannot be done as it was asked for leaves no role. Whatever else fails leaves one whose password is known, and is tried again. */
  async #firstOwnRotation(connection: string, name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.rotation.rotate(name, signal);
    } catch (error) {
      if (error instanceof DatabaseMisused) await this.#host.storage.transaction(async (tx) => this.rotation.remove(tx, name));
      if (!(error instanceof DatabaseFailed)) throw error;
      throw new DatabaseFailed(
        connection,
        `the role is stored with the password that was sent; ${retriedAfter(error.detail)}`,
        error.outcome,
      );
    }
  }

  /** @throws BadRequest where no login proves that the user of the role has this password */
  async requireOwnPassword(role: StaticRoleRecord, password: string, signal: AbortSignal): Promise<void> {
    const connection = await this.#connections.require(role.db_name);
    await this.#requireProof(connection, role, 'self_managed_password', password, signal);
  }

  async #requireProof(
    connection: NamedConnection,
    role: StaticRoleRecord,
    field: 'password' | 'self_managed_password',
    password: string,
    signal: AbortSignal,
  ): Promise<void> {
    const username = handedOut(role);
    const proof = await this.#login(connection, role, { username, candidate: password, current: undefined }, signal);
    requireProven(proof, { system: 'the database', noun: 'user', name: username }, field);
  }

  /** A warning where the database can list its users, and does not have one of this role. `known`: those that have logged in. */
  async #unlisted(
    connection: NamedConnection,
    role: StaticRoleRecord,
    known: readonly string[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    for (const username of usersOf(role)) {
      if (known.includes(username)) continue;
      const listed = await this.#connections.use(connection, async ({ session }) => session.listUsers({ prefix: username, signal }));
      if (!listed || listed.some((name) => name.toLowerCase() === username.toLowerCase())) continue;
      return `the database of the connection "${connection.name}" does not list a user ${JSON.stringify(username)}; its first rotation fails without one`;
    }
    return undefined;
  }

  /**
   * The role with the accounts that it manages. @throws BadRequest where a connection logs in as one of them: it would lose its own password
   */
  async identified(name: string, role: StaticRoleRecord, adopt: boolean): Promise<StaticRoleRecord> {
    const connection = await this.#connections.require(role.db_name);
    const accounts: ManagedAccount[] = [];
    for (const username of usersOf(role)) {
      const account = this.#account(connection, role, username);
      if (!account) return role;
      if (accounts.some((other) => other.name === account.name)) {
        throw new BadRequest(`usernames: the database takes both for one user, ${JSON.stringify(account.name)}; send two different users`);
      }
      await this.#requireNoLogin(connection, role, { username, account }, adopt);
      accounts.push(account);
    }
    const [first, second] = accounts;
    return { ...role, managed_account: first!, ...(second ? { second_account: second } : {}) };
  }

  async #requireNoLogin(
    connection: NamedConnection,
    { db_name, usernames }: StaticRoleRecord,
    { username, account }: { readonly username: string; readonly account: ManagedAccount },
    adopt: boolean,
  ): Promise<void> {
    const field = usernames ? 'usernames' : 'username';
    const own = this.#connections.ownAccount(connection);
    const isOwn = own?.system === account.system && own.name === account.name;
    if (isOwn) {
      throw new BadRequest(
        `${field}: ${JSON.stringify(username)} is the user that the connection "${db_name}" logs in as; its password is changed by rotate-root/${db_name}`,
      );
    }
    const [user] = adopt ? [] : await ConnectionUsers.of(account);
    if (user !== undefined) {
      throw new BadRequest(
        `${field}: ${JSON.stringify(username)} is the user that ${user} logs in as; give that connection a user of its own first, or send adopt=true to take the account over`,
      );
    }
  }

  #account(connection: NamedConnection, { rotation_statements: commands }: StaticRoleRecord, username: string): ManagedAccount | undefined {
    return this.#connections.accountOf(connection, { username, statements: { commands } });
  }

  async #apply({ id, record: role, candidate, signal }: StaticChange): Promise<void> {
    const connection = await this.#connections.forRole(role.db_name, id);
    const username = candidate.username ?? role.username;
    const credential = pluginCredential(candidate);
    if (role.self_managed) return this.#changeOwn(connection, role, credential, signal);
    if (role.grace_period) {
      const current = role.current && pluginCredential(role.current);
      await this.#connections.use(connection, async ({ session }) =>
        session.addPassword({ username, credential, ...(current ? { current } : {}), signal }),
      );
      return;
    }
    await this.#connections.use(connection, async ({ session }) =>
      session.updateUser({
        username,
        credential,
        statements: { commands: role.rotation_statements },
        signal,
      }),
    );
  }

  async #changeOwn(connection: NamedConnection, role: StaticRoleRecord, credential: Credential, signal: AbortSignal): Promise<void> {
    const { username, current, rotation_statements: commands } = role;
    const password = current?.data['password'];
    if (current === undefined || password === undefined)
      throw new DatabaseMisused('self_managed_password: it is not known; send it to the role');
    this.#requireUnmoved(connection, role);
    const open = await openAs(this.#connections, connection, username, password);
    try {
      await open.session.changeOwnPassword({ username, current: pluginCredential(current), credential, statements: { commands }, signal });
    } finally {
      await open.session.close().catch(() => undefined);
    }
  }

  /** A user that changes its own password has no other way in: neither its password nor a candidate is shown to another server. @throws DatabaseMisused */
  #requireUnmoved(connection: NamedConnection, role: StaticRoleRecord): void {
    if (!this.#isMoved(connection, role)) return;
    throw new DatabaseMisused(
      `the connection "${role.db_name}" leads to another server than that of the user, whose password is not sent there: point it to the first one again, or delete the role and write it again`,
    );
  }

  /** What is stored for one server is not shown to another, where the connection leads elsewhere now. */
  #isMoved(connection: NamedConnection, { managed_account: account }: StaticRoleRecord): boolean {
    return account !== undefined && account.system !== this.#connections.identity(connection)?.system;
  }

  async #endReplaced({ record: role, made, signal }: Ending<StaticRoleRecord, MadeCredential>): Promise<void> {
    if (!role.current) return;
    const connection = await this.#connections.require(role.db_name);
    const credential = pluginCredential(role.current);
    const ends = made && pluginCredential(made);
    await this.#connections.use(connection, async ({ session }) =>
      session.endPasswords({ username: role.username, credential, ...(ends ? { ends } : {}), signal }),
    );
  }

  async #prove({ record: role, candidate, signal }: StaticChange): Promise<Proof> {
    const password = candidate.data['password'];
    if (password === undefined) return 'unprovable';
    const connection = await this.#connections.require(role.db_name);
    if (role.self_managed) this.#requireUnmoved(connection, role);
    const current = this.#isMoved(connection, role) ? undefined : role.current?.data['password'];
    const username = candidate.username ?? role.username;
    const isApart = username !== handedOut(role);
    const proof = await this.#login(connection, role, { username, candidate: password, current: isApart ? undefined : current }, signal);
    if (proof !== 'neither' || !isApart || current === undefined) return proof;
    const other = await this.#login(connection, role, { username: handedOut(role), candidate: current, current: undefined }, signal);
    return other === 'candidate' ? 'current' : other;
  }

  async #login(
    connection: NamedConnection,
    role: StaticRoleRecord,
    tried: { readonly username: string; readonly candidate: string; readonly current: string | undefined },
    signal: AbortSignal,
  ): Promise<Proof> {
    return proveLogin(
      this.#connections,
      connection,
      {
        ...tried,
        elsewhere: this.#isElsewhere(connection, role, tried.username),
        ...(connection.record.self_managed
          ? {}
          : { reach: async () => this.#connections.use(connection, async ({ session }) => session.verify(signal)) }),
      },
      signal,
    );
  }

  /** The statements name another user than the connection would log in as by that name. */
  #isElsewhere(connection: NamedConnection, { rotation_statements: commands }: StaticRoleRecord, username: string): boolean {
    const called = (statements: readonly string[]): string | undefined =>
      this.#connections.accountOf(connection, { username, statements: { commands: statements } })?.name;
    return commands.length > 0 && called(commands) !== called([]);
  }

  async #make(name: string, role: StaticRoleRecord): Promise<MadeCredential> {
    const { record } = await this.#connections.forRole(role.db_name, name);
    const now = this.#host.clock.millis();
    const next = nextRotation(role, now);
    const username = nextUser(role);
    const made = await this.#credentials.make({
      type: role.credential_type,
      config: role.credential_config,
      username,
      displayName: username,
      roleName: name,
      passwordPolicy: record.password_policy,
      expiresAt: new Date(next === 0 ? now + UNPLANNED_CERTIFICATE : next + CERTIFICATE_OVERLAP),
    });
    return { ...made, ...owner(role, username) };
  }
}

function knownPassword(password: string): MadeCredential {
  return { credential: { type: 'password', password }, data: { password } };
}

/** The role with a password that a login has proven, in the place of those that are stored. */
export function withOwnPassword(role: StaticRoleRecord, password: string): StaticRoleRecord {
  const { pending: _open, shelved: _apart, last_error: _past, login: _found, ...rest } = role;
  return { ...rest, self_managed: true, current: knownPassword(password) };
}

/** Says of a credential whose it is, where the role has a pair. */
function owner({ usernames }: StaticRoleRecord, username: string): { username?: string } {
  return usernames ? { username } : {};
}

async function requireUnique(tx: Transaction, name: string): Promise<void> {
  if (await recordsIn(tx).roles.has(name)) throw new InvalidRequest('Role and Static Role names must be unique');
}
