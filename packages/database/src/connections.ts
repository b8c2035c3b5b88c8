import {
  type EnginePool,
  BadRequest,
  foreignText,
  InvalidRequest,
  Quarantine,
  Unavailable,
  type EngineHost,
  type ManagedAccount,
} from '@strongroom/engine-sdk';
import { globMatches } from '@strongroom/go-template';
import {
  connectionSecrets,
  defaultIdentity,
  type ConnectionIdentity,
  type DatabaseHost,
  type PreviewRequest,
  type UserRequest,
} from '@strongroom/database-sdk';
import { DatabaseFailed, DatabaseMisused, SessionGone } from './call-failed.ts';
import { Bulkhead } from './bulkhead.ts';
import { USUAL_LIMITS } from './connection-limits.ts';
import { poolsShared, settingsFor } from './connection-settings.ts';
import { Guard, GuardedSession } from './guarded-session.ts';
import type { AnyDatabasePlugin, PluginCatalog } from './plugin-catalog.ts';
import { recordsIn, type ConnectionRecord, type Records } from './records.ts';
import { detailsWithUser, isUserless, ownUserMissing } from './self-managed.ts';
import type { UserMark } from './user-mark.ts';
import { UserNames } from './user-names.ts';

/** A stored connection, under the name that requests use. */
export interface NamedConnection {
  readonly name: string;
  readonly record: ConnectionRecord;
}

export interface OpenConnection {
  readonly plugin: AnyDatabasePlugin;
  readonly session: GuardedSession;
  readonly names: UserNames;
}

interface Slot {
  readonly name: string;
  readonly revision: number;
  readonly pluginName: string;
  readonly opening: Promise<OpenConnection>;
  /** Once it is open. */
  opened?: OpenConnection;
}

const NEVER = new AbortController().signal;

/**
 * The connections of a mount. One session each, opened at the first use and shared by all; another revision of the record gets another
 * session. The record is read at every use, so that a change made by another process counts at once.
 */
export class Connections {
  readonly #host: EngineHost;
  readonly #catalog: PluginCatalog;
  readonly #mark: UserMark;
  readonly #records: Records;
  readonly #slots = new Map<string, Slot>();
  readonly #quarantine: Quarantine;
  readonly #bulkheads = new Map<string, Bulkhead>();
  /** Finds out, before a session is opened, which root password is the right one; set where rotations of it are made. */
  settleRoot: ((connection: NamedConnection) => Promise<NamedConnection>) | undefined;
  #closed = false;

  constructor(host: EngineHost, catalog: PluginCatalog, mark: UserMark) {
    this.#host = host;
    this.#catalog = catalog;
    this.#mark = mark;
    this.#records = recordsIn(host.storage);
    this.#quarantine = new Quarantine(host.clock);
  }

  /** @throws InvalidRequest where there is none of that name. */
  async require(name: string): Promise<NamedConnection> {
    const record = await this.#records.connections.get(name);
    if (!record) throw noConnection(name);
    return { name, record };
  }

  /** The connection of a role. @throws InvalidRequest where the connection does not allow the role. */
  async forRole(name: string, role: string): Promise<NamedConnection> {
    const connection = await this.require(name);
    if (!connection.record.allowed_roles.some((pattern) => globMatches(pattern, role))) {
      throw new InvalidRequest(`"${role}" is not an allowed role`);
    }
    return connection;
  }

  /** The connection that a user was made through, also after it was deleted; undefined where nothing is left of it. */
  async ofUser(name: string, id: string): Promise<NamedConnection | undefined> {
    const current = await this.#records.connections.get(name);
    if (current?.id === id) return { name, record: current };
    return this.#records.retired.get(id);
  }

  /**
   * Works with the connection that a user was made through. Where that was deleted, or leads elsewhere now, and its old settings do not work any more, the
   * connection of the same name takes its place: if it leads to the same server, or to one that has this user. @throws InvalidRequest where there is neither
   */
  async useForUser(
    { name, id, username }: { readonly name: string; readonly id: string; readonly username: string },
    signal: AbortSignal,
    work: (open: OpenConnection) => Promise<void>,
  ): Promise<void> {
    const own = await this.ofUser(name, id);
    const current = await this.#records.connections.get(name);
    const successor = current && current.id !== id ? { name, record: current } : undefined;
    try {
      if (own) return await this.use(own, work);
    } catch (error) {
      if (!isOutOfReach(error)) throw error;
      if (!successor) throw current ? error : deletedAndUseless(name, error);
      if (!(await this.#hasUser(successor, own, username, signal))) throw deletedAndUseless(name, error);
    }
    if (!successor) throw noConnection(name);
    if (!own && !(await this.#hasUser(successor, undefined, username, signal))) {
      throw new InvalidRequest(
        `the settings that ${JSON.stringify(username)} was made with are gone, and the connection "${name}" does not know it`,
      );
    }
    return this.use(successor, work);
  }

  async #hasUser(successor: NamedConnection, own: NamedConnection | undefined, username: string, signal: AbortSignal): Promise<boolean> {
    if (own && this.sameSystem(own, successor)) return true;
    const listed = await this.use(successor, async ({ session }) => session.listUsers({ prefix: username, signal }));
    return listed?.includes(username) ?? false;
  }

  /** Where the connection leads and as whom; undefined where its plugin cannot be used. Nothing is opened. */
  identity({ name, record }: NamedConnection): ConnectionIdentity | undefined {
    const plugin = this.plugin(record);
    if (!plugin) return undefined;
    const byDefault = (): ConnectionIdentity => defaultIdentity(plugin, record.details);
    if (!plugin.identify) return byDefault();
    let settings: Record<string, unknown>;
    try {
      settings = settingsFor(plugin, detailsWithUser(record));
    } catch {
      return byDefault();
    }
    const guard = this.#guard(name, record, plugin, connectionSecrets(plugin.connection, record.details, record.secret_fields));
    const found = guard.look(() => plugin.identify!(settings));
    if (typeof found?.system !== 'string' || found.system === '') return byDefault();
    return isUserless(record) ? { ...found, username: undefined } : found;
  }

  /** The account that a user name means through a connection; undefined where that is unknown. */
  accountOf(connection: NamedConnection, user: Pick<UserRequest, 'username' | 'statements'>): ManagedAccount | undefined {
    const { name, record } = connection;
    const identity = this.identity(connection);
    const plugin = this.plugin(record);
    if (!identity || !plugin) return undefined;
    const { system } = identity;
    if (!plugin.canonicalUser) return { system, name: user.username };
    const guard = this.#guard(name, record, plugin, connectionSecrets(plugin.connection, record.details, record.secret_fields));
    const called = guard.look(() => plugin.canonicalUser!(user, settingsFor(plugin, detailsWithUser(record))));
    return { system, name: typeof called === 'string' && called !== '' ? called : user.username };
  }

  /** The account that the connection itself logs in as. */
  ownAccount(connection: NamedConnection): ManagedAccount | undefined {
    const username = this.identity(connection)?.username;
    return username === undefined ? undefined : this.accountOf(connection, { username, statements: { commands: [] } });
  }

  /** Whether both lead to the same users. */
  sameSystem(a: NamedConnection, b: NamedConnection): boolean {
    const [one, other] = [this.identity(a), this.identity(b)];
    return one !== undefined && one.system === other?.system;
  }

  /** What the connection's calls pass through, for all its sessions. */
  bulkhead({ name, record }: NamedConnection): Bulkhead {
    const id = ownId(record);
    let bulkhead = this.#bulkheads.get(id);
    if (!bulkhead) {
      this.#bulkheads.set(id, (bulkhead = new Bulkhead(name, this.#host.circuit(name), this.#host.clock)));
      bulkhead.configure(record.limits);
    }
    return bulkhead;
  }

  /** Passes where a call of a request would be made, before anything is stored for it. @throws Unavailable */
  check(connection: NamedConnection): void {
    const reason = this.quarantine(connection);
    if (reason !== undefined) throw quarantined(connection.name, reason);
    this.bulkhead(connection).check();
  }

  /** Runs `work` with the connection's session; once more where the session was closed before the call began. */
  async use<T>(connection: NamedConnection, work: (open: OpenConnection) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#shared(connection));
    } catch (error) {
      if (!(error instanceof SessionGone)) throw error;
      this.#drop(connection.record.id);
      return work(await this.#shared(connection));
    }
  }

  /** Opens nothing. @throws DatabaseMisused for settings that the plugin's schema does not take */
  requireSettings({ name, record }: NamedConnection): void {
    this.#settings(name, record, this.#catalog.find(record.plugin_name, record.plugin_version));
  }

  /** Opens a session of its own for settings that are not stored (yet). The caller closes it, or hands it to `adopt`. */
  async openApart({ name, record }: NamedConnection): Promise<OpenConnection> {
    return this.#open(name, record, this.#catalog.find(record.plugin_name, record.plugin_version));
  }

  /** Takes a session into use for a record that is stored now. */
  adopt({ name, record }: NamedConnection, open: OpenConnection): void {
    this.forget(record.id);
    const bulkhead = this.bulkhead({ name, record });
    bulkhead.configure(record.limits);
    open.session.join(bulkhead);
    const { revision, plugin_name: pluginName } = record;
    this.#slots.set(record.id, { name, revision, pluginName, opening: Promise.resolve(open), opened: open });
  }

  /** Closes the session, if there is one; statements under way end first. Also ends a quarantine, and closes the circuit. */
  forget(id: string): void {
    this.#drop(id);
    this.#quarantine.end(id);
    this.#bulkheads.get(id)?.reset();
  }

  /** The connection is gone, and so is everything about it. */
  remove(id: string): void {
    this.forget(id);
    this.#bulkheads.delete(id);
  }

  /** The plugin, and what makes the names of its users. Opens nothing. @throws BadRequest, InvalidRequest */
  naming({ record }: NamedConnection): { plugin: AnyDatabasePlugin; names: UserNames } {
    const plugin = this.#catalog.find(record.plugin_name, record.plugin_version);
    return { plugin, names: this.#names(templatesOf(record, plugin)[0]!, plugin) };
  }

  /** The templates, of those in use now or before, whose names carry the mark of the mount. Opens nothing. @throws BadRequest, InvalidRequest */
  markedTemplates({ record }: NamedConnection): readonly string[] {
    const plugin = this.#catalog.find(record.plugin_name, record.plugin_version);
    return templatesOf(record, plugin).filter((template) => this.#names(template, plugin).marked);
  }

  /** What the plugin would send to make a user. Nothing is opened. @throws InvalidRequest where the plugin cannot tell, DatabaseMisused */
  async preview({ name, record }: NamedConnection, request: PreviewRequest): Promise<readonly string[]> {
    const plugin = this.#catalog.find(record.plugin_name, record.plugin_version);
    if (!plugin.preview) throw new InvalidRequest(`${plugin.name} has no preview`);
    const guard = this.#guard(name, record, plugin, connectionSecrets(plugin.connection, record.details, record.secret_fields));
    return guard.apart(async () => plugin.preview!(request));
  }

  /** The pools of all open sessions. */
  pools(): EnginePool[] {
    return [...this.#slots.values()].flatMap(({ name, opened }) => {
      const pool = opened?.session.pool();
      return pool ? [{ target: name, open: pool.open, idle: pool.idle, waiting: pool.waiting, limit: pool.limit }] : [];
    });
  }

  /** The pool of the session, where one is open. */
  async pool({ record }: NamedConnection): Promise<ReturnType<GuardedSession['pool']>> {
    const slot = this.#slots.get(record.id);
    return slot && (await slot.opening.catch(() => undefined))?.session.pool();
  }

  /** Another process changed the connection of this name: what is idle is closed now, what is in use is replaced at its next use. */
  invalidate(name: string): void {
    for (const [id, slot] of this.#slots) if (slot.name === name) this.forget(id);
  }

  /** Why the connection is quarantined, if it is. */
  quarantine({ record }: NamedConnection): string | undefined {
    try {
      this.#catalog.find(record.plugin_name, record.plugin_version);
    } catch (error) {
      return (error as Error).message;
    }
    return this.#quarantine.find(record.id, record.revision)?.reason;
  }

  /** Whether a session is open (or opening). */
  isOpen({ record }: NamedConnection): boolean {
    return this.#slots.has(record.id);
  }

  /** @throws BadRequest */
  requirePlugin(record: ConnectionRecord): AnyDatabasePlugin {
    return this.#catalog.find(record.plugin_name, record.plugin_version);
  }

  plugin(record: ConnectionRecord): AnyDatabasePlugin | undefined {
    try {
      return this.requirePlugin(record);
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    await Promise.all(slots.map(async (slot) => this.#closeSlot(slot)));
  }

  #shared(connection: NamedConnection): Promise<OpenConnection> {
    const { name, record } = connection;
    const slot = this.#slots.get(record.id);
    // A record that was read before a change must not bring back the previous session.
    if (slot && slot.revision >= record.revision) return slot.opening;
    if (this.#closed) throw new Unavailable('the mount is closing');
    const reason = this.quarantine(connection);
    if (reason !== undefined) throw quarantined(name, reason);
    if (record.self_managed) throw ownUserMissing(name);
    if (slot) this.#drop(record.id);
    const opening = this.#openShared(connection);
    const fresh: Slot = { name, revision: record.revision, pluginName: record.plugin_name, opening };
    this.#slots.set(record.id, fresh);
    opening.then(
      (open) => (fresh.opened = open),
      () => {
        if (this.#slots.get(record.id) === fresh) this.#slots.delete(record.id);
      },
    );
    return opening;
  }

  async #openShared(connection: NamedConnection): Promise<OpenConnection> {
    const settle = connection.record.root?.pending && this.settleRoot;
    const bulkhead = this.bulkhead(connection);
    bulkhead.configure(connection.record.limits);
    const open = await this.openApart(settle ? await settle(connection) : connection);
    open.session.join(bulkhead);
    return open;
  }

  async #open(name: string, record: ConnectionRecord, plugin: AnyDatabasePlugin): Promise<OpenConnection> {
    const { clock, log } = this.#host;
    const { details } = record;
    const secrets = connectionSecrets(plugin.connection, details, record.secret_fields);
    const candidate = record.root?.pending?.made.credential['password'];
    if (candidate !== undefined) secrets['new root password'] = candidate;
    const settings = poolsShared(this.#settings(name, record, plugin), this.#host);
    const names = this.#names(templatesOf(record, plugin)[0]!, plugin);
    const guard = this.#guard(name, record, plugin, secrets);
    const pluginHost: DatabaseHost = { now: () => clock.now(), log: redactingLog(log, name, secrets) };
    const session = await guard.call(NEVER, async () => plugin.open(settings, pluginHost));
    if (session === null || typeof session !== 'object' || typeof session.createUser !== 'function') {
      this.#fault(name, record, 'opened something that is not a session');
      throw new DatabaseFailed(name, `plugin ${plugin.name} opened something that is not a session`, 'unsent');
    }
    return { plugin, session: new GuardedSession(session, guard), names };
  }

  #settings(name: string, record: ConnectionRecord, plugin: AnyDatabasePlugin): Record<string, unknown> {
    try {
      return settingsFor(plugin, detailsWithUser(record));
    } catch (error) {
      if (error instanceof DatabaseMisused) throw error;
      const text = `declares settings that cannot be checked: ${(error as Error).message}`;
      this.#fault(name, record, text);
      throw new DatabaseFailed(name, `plugin ${plugin.name} ${text}`, 'unsent');
    }
  }

  #names(template: string, plugin: AnyDatabasePlugin): UserNames {
    const environment = { now: () => this.#host.clock.now(), randomBytes: (count: number) => this.#host.randomBytes(count) };
    return new UserNames(template, plugin.usernameMaxLength, environment, this.#mark);
  }

  #guard(name: string, record: ConnectionRecord, { code }: AnyDatabasePlugin, secrets: Readonly<Record<string, string>>): Guard {
    return new Guard({
      connection: name,
      clock: this.#host.clock,
      secrets,
      deadline: (record.limits ?? USUAL_LIMITS).call_deadline * 1_000,
      onFault: (reason) => this.#fault(name, record, reason),
      onSuspicion: (reason) =>
        this.#host.log.warn('calls of several plugins were under way when the server was blocked', {
          connection: name,
          reason: `plugin ${record.plugin_name} may have ${reason}`,
        }),
      code,
    });
  }

  #fault(name: string, record: ConnectionRecord, what: string): void {
    const reason = `plugin ${record.plugin_name} ${what}`;
    const id = ownId(record);
    this.#bulkheads.get(id)?.failed(reason);
    this.#quarantine.begin(id, record.revision, reason);
    this.#host.log.error('a database connection is quarantined', { connection: name, reason });
    if (this.#slots.get(id)?.revision === record.revision) this.#drop(id);
  }

  #drop(id: string): void {
    const slot = this.#slots.get(id);
    if (!slot) return;
    this.#slots.delete(id);
    void this.#closeSlot(slot);
  }

  async #closeSlot(slot: Slot): Promise<void> {
    try {
      await (await slot.opening).session.close();
    } catch (error) {
      this.#host.log.debug('a database session did not close cleanly', { connection: slot.name, error: (error as Error).message });
    }
  }
}

/** A session that logs in as somebody else belongs to the same connection. */
export function proofId(record: ConnectionRecord): string {
  return `${record.id}/proof`;
}

function ownId({ id }: ConnectionRecord): string {
  return id.replace(/\/proof$/, '');
}

/** The template in use, and the plugin's own, which was in use where the connection had none. */
function templatesOf({ details }: ConnectionRecord, plugin: AnyDatabasePlugin): readonly string[] {
  const own = details['username_template'];
  return typeof own === 'string' && own !== '' ? [own, plugin.usernameTemplate] : [plugin.usernameTemplate];
}

function quarantined(name: string, reason: string): Unavailable {
  return new Unavailable(`the connection "${name}" is quarantined: ${reason}`);
}

/** The database was not reached, or the login failed: with other settings it may be otherwise. */
function isOutOfReach(error: unknown): boolean {
  if (error instanceof DatabaseFailed) return error.outcome !== 'refused';
  return error instanceof Unavailable || error instanceof BadRequest || error instanceof DatabaseMisused;
}

/** What a lease shows whose connection was deleted. */
function deletedAndUseless(name: string, error: unknown): DatabaseFailed {
  const reason = error instanceof DatabaseFailed ? error.detail : (error as Error).message;
  return new DatabaseFailed(
    name,
    `the user was made with settings that were deleted or replaced and do not work any more; write a connection "${name}" to its server, with a password that works: ${reason}`,
    'unknown',
    { answered: error instanceof DatabaseFailed && error.answered },
  );
}

export function noConnection(name: string): InvalidRequest {
  return new InvalidRequest(`failed to find entry for connection with name: "${name}"`);
}

/** What a plugin that cannot be found or opened means for a request that writes its connection. */
export function creationRefused(error: unknown): unknown {
  if (error instanceof DatabaseFailed) return new BadRequest(`error creating database object: ${error.detail}`);
  if (error instanceof BadRequest || error instanceof InvalidRequest) {
    return new BadRequest(`error creating database object: ${error.message}`);
  }
  return error;
}

function redactingLog(log: EngineHost['log'], connection: string, secrets: Readonly<Record<string, string>>): DatabaseHost['log'] {
  const clean = (fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
    connection,
    ...Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'number' ? value : foreignText(String(value), secrets)]),
    ),
  });
  return {
    debug: (message, fields) => log.debug(foreignText(message, secrets), clean(fields)),
    info: (message, fields) => log.info(foreignText(message, secrets), clean(fields)),
    warn: (message, fields) => log.warn(foreignText(message, secrets), clean(fields)),
    error: (message, fields) => log.error(foreignText(message, secrets), clean(fields)),
  };
}
