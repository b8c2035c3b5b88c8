import { BadRequest, InvalidRequest, Unavailable, globMatches, type EngineHost } from '@strongroom/engine-sdk';
import { connectionSecrets, redact, type DatabaseHost } from '@strongroom/database-sdk';
import { DatabaseFailed, SessionGone } from './call-failed.ts';
import { settingsFor } from './connection-settings.ts';
import { Guard, GuardedSession } from './guarded-session.ts';
import type { AnyDatabasePlugin, PluginCatalog } from './plugin-catalog.ts';
import { recordsIn, type ConnectionRecord, type Records } from './records.ts';
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
}

interface Fault {
  readonly reason: string;
  readonly revision: number;
  readonly until: number;
}

/** How long a connection whose plugin misbehaved is left alone before it is opened anew, in milliseconds. */
const QUARANTINE = 60_000;
const NEVER = new AbortController().signal;

/**
 * The connections of a mount. One session each, opened at the first use and shared by all; another revision of the record gets another
 * session. The record is read at every use, so that a change made by another process counts at once.
 */
export class Connections {
  readonly #host: EngineHost;
  readonly #catalog: PluginCatalog;
  readonly #records: Records;
  readonly #slots = new Map<string, Slot>();
  readonly #faults = new Map<string, Fault>();
  /** Finds out, before a session is opened, which root password is the right one; set where rotations of it are made. */
  settleRoot: ((connection: NamedConnection) => Promise<NamedConnection>) | undefined;
  #closed = false;

  constructor(host: EngineHost, catalog: PluginCatalog) {
    this.#host = host;
    this.#catalog = catalog;
    this.#records = recordsIn(host.storage);
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

  /** Opens a session of its own for settings that are not stored (yet). The caller closes it, or hands it to `adopt`. */
  async openApart({ name, record }: NamedConnection): Promise<OpenConnection> {
    return this.#open(name, record, this.#catalog.find(record.plugin_name, record.plugin_version));
  }

  /** Takes a session into use for a record that is stored now. */
  adopt({ name, record }: NamedConnection, open: OpenConnection): void {
    this.#drop(record.id);
    this.#faults.delete(record.id);
    this.#slots.set(record.id, { name, revision: record.revision, pluginName: record.plugin_name, opening: Promise.resolve(open) });
  }

  /** Closes the session, if there is one; statements under way end first. Also ends a quarantine. */
  forget(id: string): void {
    this.#drop(id);
    this.#faults.delete(id);
  }

  /** Another process changed the connection of this name: what is idle is closed now, what is in use is replaced at its next use. */
  invalidate(name: string): void {
    for (const [id, slot] of this.#slots) if (slot.name === name) this.forget(id);
  }

  /** Why the connection is out of use, if it is. */
  quarantine({ record }: NamedConnection): string | undefined {
    try {
      this.#catalog.find(record.plugin_name, record.plugin_version);
    } catch (error) {
      return (error as Error).message;
    }
    const fault = this.#faults.get(record.id);
    return fault && fault.revision === record.revision && fault.until > this.#host.clock.millis() ? fault.reason : undefined;
  }

  /** Whether a session is open (or opening). */
  isOpen({ record }: NamedConnection): boolean {
    return this.#slots.has(record.id);
  }

  plugin(record: ConnectionRecord): AnyDatabasePlugin | undefined {
    try {
      return this.#catalog.find(record.plugin_name, record.plugin_version);
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
    // A record that was read before a change must not bring back the session of before.
    if (slot && slot.revision >= record.revision) return slot.opening;
    if (this.#closed) throw new Unavailable('the mount is closing');
    const reason = this.quarantine(connection);
    if (reason !== undefined) throw new Unavailable(`the connection "${name}" is out of use: ${reason}`);
    if (slot) this.#drop(record.id);
    const settle = record.root?.pending && this.settleRoot;
    const opening = settle ? settle(connection).then(async (settled) => this.openApart(settled)) : this.openApart(connection);
    const fresh: Slot = { name, revision: record.revision, pluginName: record.plugin_name, opening };
    this.#slots.set(record.id, fresh);
    opening.catch(() => {
      if (this.#slots.get(record.id) === fresh) this.#slots.delete(record.id);
    });
    return opening;
  }

  async #open(name: string, record: ConnectionRecord, plugin: AnyDatabasePlugin): Promise<OpenConnection> {
    const { clock, log } = this.#host;
    const { details } = record;
    const secrets = connectionSecrets(plugin.connection, details);
    const candidate = record.root?.pending?.made.credential['password'];
    if (candidate !== undefined) secrets['new root password'] = candidate;
    const settings = settingsFor(plugin, details);
    const template = details['username_template'];
    const names = new UserNames(
      typeof template === 'string' && template !== '' ? template : plugin.usernameTemplate,
      plugin.usernameMaxLength,
      {
        now: () => clock.now(),
        randomBytes: (count) => this.#host.randomBytes(count),
      },
    );
    const guard = new Guard({
      connection: name,
      clock,
      secrets,
      onFault: (reason) => this.#fault(name, record, reason),
    });
    const pluginHost: DatabaseHost = { now: () => clock.now(), log: redactingLog(log, name, secrets) };
    const session = await guard.call(NEVER, async () => plugin.open(settings, pluginHost));
    if (session === null || typeof session !== 'object' || typeof session.createUser !== 'function') {
      this.#fault(name, record, 'opened something that is not a session');
      throw new DatabaseFailed(name, `plugin ${plugin.name} opened something that is not a session`, 'unsent');
    }
    return { plugin, session: new GuardedSession(session, guard), names };
  }

  #fault(name: string, record: ConnectionRecord, what: string): void {
    const reason = `plugin ${record.plugin_name} ${what}`;
    this.#faults.set(record.id, { reason, revision: record.revision, until: this.#host.clock.millis() + QUARANTINE });
    this.#host.log.error('a database connection is out of use for a while', { connection: name, reason });
    if (this.#slots.get(record.id)?.revision === record.revision) this.#drop(record.id);
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
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'number' ? value : redact(String(value), secrets)]),
    ),
  });
  return {
    debug: (message, fields) => log.debug(redact(message, secrets), clean(fields)),
    info: (message, fields) => log.info(redact(message, secrets), clean(fields)),
    warn: (message, fields) => log.warn(redact(message, secrets), clean(fields)),
    error: (message, fields) => log.error(redact(message, secrets), clean(fields)),
  };
}
