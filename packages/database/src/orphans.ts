import { InvalidRequest, mapConcurrently, type EngineHost, type Intent, type OpenIntent } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { detailOf } from './call-failed.ts';
import { noConnection, type Connections, type NamedConnection } from './connections.ts';
import { KnownUsers } from './known-users.ts';
import { recordsIn, removalFields, userKey, type Removal as UserRemoval } from './records.ts';
import type { UserMark } from './user-mark.ts';
import { removalOf, removeUser } from './user-removal.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;
/** Removals at a time. */
const CONCURRENCY = 8;

const Removal = Type.Object({
  connection: Type.String(),
  connection_id: Type.String(),
  username: Type.String(),
  ...removalFields,
});

export interface Orphans {
  readonly usernames: readonly string[];
  /** Of `username_template` and the plugin's own template: those whose names carry the mark of this mount. */
  readonly templates: readonly string[];
}

export interface Removed {
  readonly removed: readonly string[];
  /** Not there (any more). */
  readonly gone: readonly string[];
  /** What went wrong; the journal tries again. */
  readonly pending: Readonly<Record<string, string>>;
}

/**
 * Users that this mount made and that no record keeps: those whose lease was revoked by force, which are recorded as such, and those that the store has
 * never seen since it was restored from a backup, which are known by the mark in their names.
 */
export class OrphanedUsers {
  readonly intent: Intent<typeof Removal>;
  readonly #host: EngineHost;
  readonly #connections: Connections;
  readonly #mark: UserMark;

  constructor(host: EngineHost, connections: Connections, mark: UserMark) {
    this.#host = host;
    this.#connections = connections;
    this.#mark = mark;
    this.intent = {
      kind: 'remove-orphan',
      entry: Removal,
      minAgeSeconds: INTENT_AGE,
      target: (entry) => entry.connection,
      takesBack: true,
      outside: ({ username, connection }) => ({ kind: 'database user', name: username, system: `connection "${connection}"` }),
      rollback: async ({ connection, connection_id, username, ...removal }, _storage, signal) => {
        const found = await connections.ofUser(connection, connection_id);
        if (found) await this.#delete(found, username, removal, signal);
      },
    };
  }

  /** @throws InvalidRequest where the plugin lists no users, DatabaseFailed. */
  async find(connection: NamedConnection, signal: AbortSignal): Promise<Orphans> {
    const templates = this.#connections.markedTemplates(connection);
    // First the users of the database, then the records: a user is recorded before it is created, so that a new one is never taken for an orphan.
    const listed = await this.#list(connection, '', signal);
    const dropped = await this.#dropped(connection);
    const ours = listed.filter((name) => dropped.has(name) || this.#mark.isOn(name));
    return { usernames: (await KnownUsers.strangersAmong(ours)).sort(), templates };
  }

  /** Removes these, or all. What is not there counts as removed. @throws InvalidRequest, and removes none, where one is no orphan. */
  async remove(connection: NamedConnection, asked: readonly string[] | 'all', signal: AbortSignal): Promise<Removed> {
    const { usernames } = await this.find(connection, signal);
    const orphans = new Set(usernames);
    const wanted = asked === 'all' ? [...orphans] : [...new Set(asked)];
    const others = wanted.filter((name) => !orphans.has(name));
    const gone: string[] = [];
    for (const name of others) {
      if ((await this.#list(connection, name, signal)).includes(name)) {
        throw new InvalidRequest(`${JSON.stringify(name)} is no orphan: either this mount did not make it, or it is still in use`);
      }
      gone.push(name);
    }
    const removed: string[] = [];
    const pending: Record<string, string> = {};
    const left = wanted.filter((name) => orphans.has(name));
    await mapConcurrently(left, CONCURRENCY, async (name) => {
      const failure = await this.#remove(connection, name, signal);
      if (failure === undefined) removed.push(name);
      else pending[name] = failure;
    });
    return { removed: removed.sort(), gone: gone.sort(), pending };
  }

  /** Resolves with what went wrong. */
  async #remove(connection: NamedConnection, username: string, signal: AbortSignal): Promise<string | undefined> {
    const { id } = connection.record;
    const key = userKey(id, username);
    const noted = await this.#host.storage.transaction(async (tx) => {
      const { connections, roles, users } = recordsIn(tx);
      if ((await connections.get(connection.name))?.id !== id) throw noConnection(connection.name);
      const user = await users.get(key);
      const role = user && (await roles.get(user.role));
      const removal = role ? removalOf(role) : { revocation_statements: [], end_sessions: true };
      const entry = { connection: connection.name, connection_id: id, username, ...removal };
      return { intent: await tx.intend(this.intent, entry), removal };
    });
    try {
      await this.#delete(connection, username, noted.removal, signal);
    } catch (error) {
      // Whatever became of it: to remove a user twice does no harm.
      await this.#host.storage.transaction(async (tx) => tx.abandon(noted.intent));
      return detailOf(error);
    }
    await this.#settle(noted.intent);
    return undefined;
  }

  async #delete({ name, record }: NamedConnection, username: string, removal: UserRemoval, signal: AbortSignal): Promise<void> {
    await this.#connections.use({ name, record }, async ({ session }) => removeUser(session, username, removal, signal));
    await recordsIn(this.#host.storage).users.delete(userKey(record.id, username));
  }

  async #settle(intent: OpenIntent): Promise<void> {
    await this.#host.storage.transaction(async (tx) => tx.settle(intent));
  }

  async #list(connection: NamedConnection, prefix: string, signal: AbortSignal): Promise<readonly string[]> {
    const names = await this.#connections.use(connection, async ({ session }) => session.listUsers({ prefix, signal }));
    if (!names) throw new InvalidRequest(`${connection.record.plugin_name} does not list users, so orphans cannot be found`);
    return names;
  }

  /** The users whose lease was revoked by force. */
  async #dropped({ record }: NamedConnection): Promise<Set<string>> {
    const prefix = userKey(record.id, '');
    const entries = await recordsIn(this.#host.storage).users.entries({ prefix });
    return new Set(entries.filter(([, user]) => user.dropped === true).map(([key]) => key.slice(prefix.length)));
  }
}
