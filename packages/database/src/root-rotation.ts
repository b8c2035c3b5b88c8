import { EngineError, InvalidRequest, type EngineHost, type Transaction } from '@strongroom/engine-sdk';
import { connectionUrlFields, connectionUrlPasswords } from '@strongroom/database-sdk';
import {
  claimAccount,
  manualPlan,
  otherManager,
  present,
  rotatesByItself,
  Rotation,
  type Change,
  type Proof,
  type StateLens,
} from '@strongroom/rotation';
import { DatabaseFailed, detailOf, outcomeOf } from './call-failed.ts';
import { ConnectionUsers, rootCalled } from './connection-users.ts';
import { noConnection, type Connections, type NamedConnection } from './connections.ts';
import { pluginCredential, type CredentialMaker, type MadeCredential } from './credential-maker.ts';
import { proveLogin } from './login-proof.ts';
import { recordsIn, unsettled, type ConnectionRecord, type Records } from './records.ts';

/** The root password is among the settings of the connection; a new one is a new revision, which sessions see. */
const rootState: StateLens<ConnectionRecord, MadeCredential> = {
  state: ({ root, details }) => {
    const { password } = details;
    return {
      ...(root ?? { last_rotation: 0, next_rotation: 0 }),
      ...(typeof password === 'string' ? { current: passwordCredential(password) } : {}),
    };
  },
  withState: (record, { current, previous: _unkept, ...state }) => {
    const root = present(state);
    const password = current?.data['password'];
    if (password === undefined || password === record.details['password']) return { ...record, root };
    return { ...record, root, revision: record.revision + 1, details: { ...record.details, password } };
  },
};

/** Rotation of the passwords of root users, on demand and by plan. */
export class RootRotation {
  readonly rotation: Rotation<ConnectionRecord, MadeCredential>;
  readonly #connections: Connections;
  readonly #records: Records;
  readonly #host: EngineHost;

  constructor(host: EngineHost, connections: Connections, credentials: CredentialMaker) {
    this.#host = host;
    this.#records = recordsIn(host.storage);
    this.#connections = connections;
    this.rotation = new Rotation(host, {
      kind: 'rotate-root',
      noun: 'root credential of the connection',
      about: (name) => ({ noun: 'root credential', name, path: `config/${name}`, retry: `rotate-root/${name}` }),
      reported: (name) => ({ name, paths: [`config/${name}`] }),
      lens: rootState,
      records: (storage) => recordsIn(storage).connections,
      plan: ({ plan }) => plan ?? manualPlan,
      target: (name) => name,
      make: async (_name, { password_policy }) => passwordCredential(await credentials.password(password_policy)),
      apply: async (change) => this.#apply(change),
      outcomeOf,
      messageOf: detailOf,
      prove: async (change) => this.#prove(change),
      unproven: (name, _record, text) => new DatabaseFailed(name, text, 'unknown', { answered: true }),
      claims: {
        by: rootCalled,
        called: (record) => String(record.details['username']),
        identify: async (name, record) => this.#connections.ownAccount({ name, record }),
      },
      ofItself: true,
      missing: noConnection,
    });
    connections.settleRoot = async ({ name, record }) => {
      const { signal } = new AbortController();
      if (await this.#records.retired.has(record.id)) return { name, record: await this.#settleRetired(name, record, signal) };
      return { name, record: (await this.rotation.settle(name, record, signal)).record };
    };
  }

  /** Takes the account of the root user over from whoever manages it. Inside a transaction that stores nothing else. */
  async adopt(name: string): Promise<void> {
    const connection = await this.#connections.require(name);
    const account = this.#connections.ownAccount(connection);
    if (!account) return;
    await this.#host.storage.transaction(async (tx) => {
      await claimAccount(tx, { account, by: rootCalled(name), called: account.name, adopt: true });
    });
  }

  /** Refuses a plan for a root password that could not be rotated. @throws InvalidRequest */
  requireFitting(connection: NamedConnection): void {
    if (rotatesByItself(connection.record.plan)) this.#requireRotatable(connection);
  }

  /**
   * Stores a connection that was written over `before`. With a plan, the account of its root user is its own from then on. Inside the transaction of
   * the write. @throws BadRequest where another manager has the account
   */
  async store(
    tx: Transaction,
    { name, record }: NamedConnection,
    { before, adopt }: { before: ConnectionRecord | undefined; adopt: boolean },
  ): Promise<ConnectionRecord> {
    const account = rotatesByItself(record.plan) ? this.#connections.ownAccount({ name, record }) : undefined;
    if (account) await claimAccount(tx, { account, by: rootCalled(name), called: account.name, adopt });
    const state = record.root ?? { last_rotation: 0, next_rotation: 0 };
    const stored = account ? { ...record, root: { ...state, managed_account: account } } : record;
    await this.rotation.update(tx, name, { ...stored, plan: before?.plan ?? manualPlan }, stored);
    return (await recordsIn(tx).connections.get(name)) ?? stored;
  }

  /** Who else logs in as the root user of a connection, or changes its password: one locks the other out. */
  async sharingRemarks({ name, record }: NamedConnection): Promise<string[]> {
    const account = this.#connections.ownAccount({ name, record });
    if (!account) return [];
    const manager = await otherManager(this.#host.storage, account, rootCalled(name));
    const managed =
      manager === undefined
        ? []
        : [`username: ${manager} changes the password of "${account.name}": this connection stops working when it does`];
    if (!rotatesByItself(record.plan)) return managed;
    const others = await ConnectionUsers.of(account, { mount: this.#host.mount.path, connection: name });
    const shared = others.map(
      (other) => `${other} logs in as the same user, and is locked out by the first planned rotation: give it a user of its own`,
    );
    return [...managed, ...shared];
  }

  /** Resolves with warnings where not all went well. @throws InvalidRequest where the settings do not allow it, TooManyRequests while another process rotates, DatabaseFailed. */
  async rotate(name: string, signal: AbortSignal): Promise<string[]> {
    const connection = await this.#connections.require(name);
    this.#requireRotatable(connection);
    const account = this.#connections.ownAccount(connection);
    const others = account ? await ConnectionUsers.of(account, { mount: this.#host.mount.path, connection: name }) : [];
    try {
      const warning = await this.rotation.rotate(name, signal);
      const shared = others.map(
        (other) => `${other} logs in as the same user, and needs the new password, which nobody can read: give it a user of its own`,
      );
      return [...(warning === undefined ? [] : [warning]), ...shared];
    } catch (error) {
      if (error instanceof EngineError && !(error instanceof DatabaseFailed)) throw error;
      throw new DatabaseFailed(name, `failed to update user: ${detailOf(error)}`, outcomeOf(error));
    }
  }

  async #apply({ id, record, candidate, signal }: Change<ConnectionRecord, MadeCredential>): Promise<void> {
    await this.#connections.use({ name: id, record: unsettled(record) }, async ({ session }) =>
      session.updateUser({
        username: requireText(record.details, 'username'),
        credential: pluginCredential(candidate),
        statements: { commands: record.root_rotation_statements },
        signal,
      }),
    );
  }

  async #prove({ id, record, candidate, signal }: Change<ConnectionRecord, MadeCredential>): Promise<Proof> {
    const { username, password } = record.details;
    const passwords = { candidate: candidate.data['password']!, current: typeof password === 'string' ? password : undefined };
    return proveLogin(this.#connections, { name: id, record }, { username: String(username), ...passwords }, signal);
  }

  /** A connection that was deleted has no rotations any more; which password its leftovers need is decided here. */
  async #settleRetired(name: string, record: ConnectionRecord, signal: AbortSignal): Promise<ConnectionRecord> {
    const { pending, ...state } = rootState.state(record);
    if (!pending) return record;
    const proof = await this.#prove({ id: name, record, candidate: pending.made, signal });
    if (proof !== 'candidate') return record;
    const settled = rootState.withState(record, { ...state, current: pending.made });
    await this.#host.storage.transaction(async (tx) => {
      const { retired } = recordsIn(tx);
      if (await retired.has(record.id)) await retired.put(record.id, { name, record: settled });
    });
    return settled;
  }

  #requireRotatable(connection: NamedConnection): void {
    requireText(connection.record.details, 'username');
    requireText(connection.record.details, 'password');
    this.#requireTemplate(connection);
  }

  /** With a password of its own in the URL, the new one would never be used, and the old one would be gone. */
  #requireTemplate({ record }: NamedConnection): void {
    const plugin = this.#connections.plugin(record);
    for (const field of plugin ? connectionUrlFields(plugin.connection) : []) {
      const url = record.details[field];
      if (typeof url === 'string' && connectionUrlPasswords(url).length > 0) {
        throw new InvalidRequest(`unable to rotate root credentials: ${field} holds a password; put {{password}} in its place`);
      }
    }
  }
}

function passwordCredential(password: string): MadeCredential {
  return { credential: { type: 'password', password }, data: { password } };
}

function requireText(details: Readonly<Record<string, unknown>>, field: string): string {
  const value = details[field];
  if (typeof value !== 'string' || value === '') {
    throw new InvalidRequest(`unable to rotate root credentials: no ${field} in configuration`);
  }
  return value;
}
