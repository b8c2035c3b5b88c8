import {
  InvalidRequest,
  issue,
  type EngineHost,
  type EngineRequest,
  type Intent,
  type OutsideThing,
  type OpenIntent,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { outcomeOf } from './call-failed.ts';
import { noConnection, type Connections, type NamedConnection } from './connections.ts';
import { pluginCredential, type CredentialMaker } from './credential-maker.ts';
import { requireCredentialType } from './role-checks.ts';
import { removalOf, removeUser } from './user-removal.ts';
import { dropIfUnused } from './retired-connections.ts';
import { recordsIn, removalFields, userKey, type Removal, type RoleRecord } from './records.ts';

/** The database refuses a user this much later than its lease ends, so that clocks that differ do not cut it short. Seconds. */
export const SLACK = 5;
/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;

const Creation = Type.Object({
  connection: Type.String(),
  connection_id: Type.String(),
  role: Type.String(),
  username: Type.String(),
  ...removalFields,
});

const Internal = Type.Object({
  db_name: Type.String(),
  connection_id: Type.String(),
  role: Type.String(),
  username: Type.String(),
  /** As it was at the issue: for roles that are gone at revocation. */
  ...removalFields,
});

/** Users that are made for a lease and taken away with it. */
export class DynamicUsers {
  readonly intent: Intent<typeof Creation>;
  readonly secret: SecretType<typeof Internal>;
  readonly #host: EngineHost;
  readonly #connections: Connections;
  readonly #credentials: CredentialMaker;

  constructor(host: EngineHost, connections: Connections, credentials: CredentialMaker) {
    this.#host = host;
    this.#connections = connections;
    this.#credentials = credentials;
    this.intent = {
      kind: 'create-user',
      entry: Creation,
      minAgeSeconds: INTENT_AGE,
      target: (entry) => entry.connection,
      outside: ({ username, connection }) => databaseUser(username, connection),
      rollback: async (entry, _storage, signal) => {
        const { connection: name, connection_id: id, role, username } = entry;
        await this.#takeAway({ name, id, role, username, captured: entry }, signal);
        await this.#forget(id, username);
      },
    };
    this.secret = {
      type: 'creds',
      internal: Internal,
      target: (internal) => internal.db_name,
      outside: ({ username, db_name }) => databaseUser(username, db_name),
      renew: async (lease) => {
        const { role: roleName, username, connection_id, db_name } = lease.internal;
        const role = await recordsIn(host.storage).roles.get(roleName);
        if (!role) throw new InvalidRequest(`could not find role with name: ${JSON.stringify(roleName)}`);
        const terms = { ttl: role.default_ttl, maxTtl: role.max_ttl };
        const ends = lease.endsWith(terms);
        await connections.useForUser({ name: db_name, id: connection_id, username }, lease.signal, async ({ session }) =>
          session.renewUser({
            username,
            statements: { commands: role.renew_statements },
            expiresAt: new Date(ends.getTime() + SLACK * 1_000),
            signal: lease.signal,
          }),
        );
        return terms;
      },
      revoke: async ({ internal, signal }) => {
        const { db_name: name, connection_id: id, role, username } = internal;
        await this.#takeAway({ name, id, role, username, captured: internal }, signal);
        // The last one takes the settings along, and the session that was opened with them.
        if (await recordsIn(host.storage).retired.has(id)) await this.#forget(id, username);
      },
      revoked: async ({ connection_id, username }, tx) => {
        const { retired, users } = recordsIn(tx);
        const key = userKey(connection_id, username);
        const isLate = (await retired.has(connection_id)) && (await users.has(key));
        await users.delete(key);
        // The connection was deleted during the revocation.
        if (isLate) await dropIfUnused(tx, connection_id);
      },
      dropped: async ({ connection_id, username, db_name, role }, tx) => {
        const { connections: current, users } = recordsIn(tx);
        const key = userKey(connection_id, username);
        if ((await current.get(db_name))?.id === connection_id) await users.put(key, { role, dropped: true });
        // With the connection gone nobody could be asked to remove it.
        else await users.delete(key);
      },
    };
  }

  /** Makes a user of the role: first what is about to happen is stored, then the database is touched, then the core stores the lease. */
  async create(req: EngineRequest, roleName: string, role: RoleRecord) {
    const connection = await this.#connections.forRole(role.db_name, roleName);
    const { record } = connection;
    // What cannot be done at the moment is refused before anything is stored for it.
    this.#connections.check(connection);
    const { names, plugin } = await this.#connections.use(connection, async (open) => open);
    requireCredentialType(plugin, role.credential_type);
    const terms = { ttl: role.default_ttl, maxTtl: role.max_ttl };
    const { ttl } = this.#host.limit(terms);
    const expiresAt = new Date(this.#host.clock.millis() + (ttl + SLACK) * 1_000);
    const username = names.next(req.caller.displayName, roleName);
    const made = await this.#credentials.make({
      type: role.credential_type,
      config: role.credential_config,
      username,
      displayName: req.caller.displayName,
      roleName,
      passwordPolicy: record.password_policy,
      expiresAt,
    });
    const intent = await this.#intend(connection, roleName, role, username);
    try {
      await this.#connections.use(connection, async ({ session }) =>
        session.createUser({
          username,
          credential: pluginCredential(made),
          expiresAt,
          statements: { commands: role.creation_statements },
          rollback: { commands: role.rollback_statements },
          signal: req.signal,
        }),
      );
    } catch (error) {
      await this.#failed(intent, { key: userKey(record.id, username), role: roleName }, error, names.unique);
      throw error;
    }
    const internal = {
      db_name: role.db_name,
      connection_id: record.id,
      role: roleName,
      username,
      ...removalOf(role),
    };
    // A certificate carries its own end, which no renewal moves.
    const renewable = role.credential_type !== 'client_certificate';
    return {
      data: { username, ...made.data },
      secret: issue(this.secret, { internal, terms: { ...terms, renewable }, fulfils: intent }),
    };
  }

  async #intend(connection: NamedConnection, roleName: string, role: RoleRecord, username: string): Promise<OpenIntent> {
    const { id } = connection.record;
    return this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx);
      // Read in this commit, so that a connection cannot be deleted between here and there without its users being seen.
      if ((await inside.connections.get(connection.name))?.id !== id) {
        throw noConnection(connection.name);
      }
      const key = userKey(id, username);
      // The undo of a failed creation would otherwise take the other user away.
      if (await inside.users.has(key)) throw new InvalidRequest(`a user of that name is in use: username_template gives names that repeat`);
      await inside.users.put(key, { role: roleName });
      return tx.intend(this.intent, {
        connection: connection.name,
        connection_id: id,
        role: roleName,
        username,
        ...removalOf(role),
      });
    });
  }

  /**
   * A call whose outcome is unknown is left to the journal. After a refusal the journal cleans up at once, in case the plugin left something;
   * but a name that could be somebody else's is not touched.
   */
  async #failed(intent: OpenIntent, user: { key: string; role: string }, error: unknown, unique: boolean): Promise<void> {
    const outcome = outcomeOf(error);
    if (outcome === 'unknown') return;
    await this.#host.storage.transaction(async (tx) => {
      const { users } = recordsIn(tx);
      if (outcome === 'refused' && unique) {
        await users.put(user.key, { role: user.role, undoing: true });
        return tx.abandon(intent);
      }
      await users.delete(user.key);
      return tx.settle(intent);
    });
  }

  async #takeAway(
    { name, id, role: roleName, username, captured }: { name: string; id: string; role: string; username: string; captured: Removal },
    signal: AbortSignal,
  ): Promise<void> {
    const records = recordsIn(this.#host.storage);
    // Settings outlive the last user made with them: this one was removed before, and only the lease was not.
    if (!(await this.#connections.ofUser(name, id)) && !(await records.users.has(userKey(id, username)))) return;
    const role = await records.roles.get(roleName);
    await this.#connections.useForUser({ name, id, username }, signal, async ({ session }) =>
      removeUser(session, username, role ?? captured, signal),
    );
  }

  async #forget(connectionId: string, username: string): Promise<void> {
    const { storage } = this.#host;
    await recordsIn(storage).users.delete(userKey(connectionId, username));
    if (await dropIfUnused(storage, connectionId)) this.#connections.forget(connectionId);
  }
}

function databaseUser(name: string, connection: string): OutsideThing {
  return { kind: 'database user', name, system: `connection "${connection}"` };
}
