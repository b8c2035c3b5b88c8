import {
  InvalidRequest,
  noOrphan,
  removeOrphans,
  type EngineHost,
  type Intent,
  type OrphanRemover,
  type RemovedOrphans,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
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
  async remove(connection: NamedConnection, asked: readonly string[] | 'all', signal: AbortSignal): Promise<RemovedOrphans> {
    const { usernames } = await this.find(connection, signal);
    const orphans = new Set(usernames);
    const wanted = asked === 'all' ? [...orphans] : [...new Set(asked)];
    const others = wanted.filter((name) => !orphans.has(name));
    const gone: string[] = [];
    for (const name of others) {
      if ((await this.#list(connection, name, signal)).includes(name)) {
        throw noOrphan(name);
      }
      gone.push(name);
    }
    const left = wanted.filter((name) => orphans.has(name));
    return { ...(await removeOrphans(this.#host.storage, left, CONCURRENCY, this.#remover(connection, signal))), gone: gone.sort() };
  }

  #remover(connection: NamedConnection, signal: AbortSignal): OrphanRemover<string, Static<typeof Removal>> {
    const { id } = connection.record;
    return {
      nameOf: (username) => username,
      note: async (tx, username) => {
        const { connections, roles, users } = recordsIn(tx);
        if ((await connections.get(connection.name))?.id !== id) throw noConnection(connection.name);
        const user = await users.get(userKey(id, username));
        const role = user && (await roles.get(user.role));
        const ending = role ? removalOf(role) : { revocation_statements: [], end_sessions: true };
        const removal = { connection: connection.name, connection_id: id, username, ...ending };
        return { intent: await tx.intend(this.intent, removal), removal };
      },
      remove: async ({ username, ...removal }) => this.#delete(connection, username, removal, signal),
      textOf: detailOf,
    };
  }

  async #delete({ name, record }: NamedConnection, username: string, removal: UserRemoval, signal: AbortSignal): Promise<void> {
    await this.#connections.use({ name, record }, async ({ session }) => removeUser(session, username, removal, signal));
    await recordsIn(this.#host.storage).users.delete(userKey(record.id, username));
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
