import { randomUUID } from 'node:crypto';
import { InternalError, InvalidRequest, TooManyRequests, type EngineHost, type Schedule } from '@strongroom/engine-sdk';
import { connectionUrlFields, connectionUrlSecrets } from '@strongroom/database-sdk';
import { Type } from 'typebox';
import { DatabaseFailed, detailOf, outcomeOf } from './call-failed.ts';
import type { Connections, NamedConnection } from './connections.ts';
import { pluginCredential, type CredentialMaker } from './credential-maker.ts';
import { openAs, proveLogin, type Proof } from './login-proof.ts';
import { recordsIn, type ConnectionRecord, type PendingChange } from './records.ts';
import { CLAIM } from './static-users.ts';

const SOON = 10_000;
const Job = Type.Object({ name: Type.String() });

/**
 * Rotation of the root user's password. The candidate is stored beside the old password before the database is touched; whichever of the two
 * logs in is kept, and the other is dropped only then.
 */
export class RootRotation {
  readonly job: Schedule<typeof Job>;
  readonly #host: EngineHost;
  readonly #connections: Connections;
  readonly #credentials: CredentialMaker;

  constructor(host: EngineHost, connections: Connections, credentials: CredentialMaker) {
    this.#host = host;
    this.#connections = connections;
    this.#credentials = credentials;
    this.job = {
      kind: 'settle-root',
      entry: Job,
      target: ({ name }) => name,
      run: async ({ name }, _storage, signal) => this.#takeUp(name, signal),
    };
    connections.settleRoot = async (connection) => (await this.#settle(connection, new AbortController().signal)).connection;
  }

  /** @throws InvalidRequest where the settings do not allow it, TooManyRequests while another rotation is under way, DatabaseFailed. */
  async rotate(name: string, signal: AbortSignal): Promise<void> {
    const connection = await this.#connections.require(name);
    const { details, password_policy } = connection.record;
    const username = requireText(details, 'username');
    requireText(details, 'password');
    this.#requireTemplate(connection);
    const password = await this.#credentials.password(password_policy);
    const pending = await this.#claim(connection, { credential: { type: 'password', password }, data: { password } });
    try {
      await this.#connections.use(connection, async ({ session }) =>
        session.updateUser({
          username,
          credential: pluginCredential(pending.made),
          statements: { commands: connection.record.root_rotation_statements },
          signal,
        }),
      );
      await this.#proveAndCommit(connection, pending, username, signal);
    } catch (error) {
      if (!(await this.#isThroughAfter(connection, pending, error, signal))) throw rotationFailed(name, error);
    }
  }

  /** With a password of its own in the URL, the new one would never be used, and the old one would be gone. */
  #requireTemplate({ record }: NamedConnection): void {
    const plugin = this.#connections.plugin(record);
    for (const field of plugin ? connectionUrlFields(plugin.connection) : []) {
      const url = record.details[field];
      if (typeof url === 'string' && connectionUrlSecrets(url).length > 0) {
        throw new InvalidRequest(`unable to rotate root credentials: ${field} holds a password; put {{password}} in its place`);
      }
    }
  }

  async #claim({ name, record }: NamedConnection, made: PendingChange['made']): Promise<PendingChange> {
    const now = this.#now();
    const pending: PendingChange = { made, begun: now, claim: randomUUID(), until: now + CLAIM };
    await this.#host.storage.transaction(async (tx) => {
      const { connections } = recordsIn(tx);
      const current = await connections.get(name);
      if (!current || current.id !== record.id || current.revision !== record.revision || current.root_pending) {
        throw new TooManyRequests(`the root credential of ${name} is being rotated or changed`, { headers: { 'Retry-After': '5' } });
      }
      await connections.put(name, { ...current, root_pending: pending });
      await tx.schedule(this.job, name, new Date(pending.until), { name });
    });
    return pending;
  }

  /** Logs in with the new password before the old one is forgotten. */
  async #proveAndCommit(connection: NamedConnection, pending: PendingChange, username: string, signal: AbortSignal): Promise<void> {
    const open = await openAs(this.#connections, connection, username, pending.made.data['password']!);
    try {
      await open.session.verify(signal);
    } finally {
      await open.session.close().catch(() => undefined);
    }
    const stored = await this.#promote(connection.name, pending);
    if (!stored) throw new InternalError(`the connection ${connection.name} was changed while its root credential was being rotated`);
  }

  /**
   * What a failed rotation leaves: the old password if it logs in, the candidate if that does (then the rotation is through after all), else
   * both, for the job to decide.
   */
  async #isThroughAfter(connection: NamedConnection, pending: PendingChange, error: unknown, signal: AbortSignal): Promise<boolean> {
    const outcome = outcomeOf(error);
    const proof = outcome === 'unsent' || outcome === 'refused' ? await this.#prove(connection, pending, signal) : 'neither';
    if (proof === 'candidate') return this.#promote(connection.name, pending);
    if (proof === 'current' || (proof === 'unprovable' && outcome === 'refused'))
      await this.#drop(connection.name, pending, detailOf(error));
    else {
      await this.#host.storage.transaction(async (tx) => {
        const { connections } = recordsIn(tx);
        const current = await connections.get(connection.name);
        if (current?.root_pending?.claim !== pending.claim) return;
        await connections.put(connection.name, { ...current, last_root_error: this.#errorOf(detailOf(error)) });
        await tx.schedule(this.job, connection.name, new Date(this.#now() + SOON), { name: connection.name });
      });
    }
    return false;
  }

  /** The job: decides about a candidate that was left behind. */
  async #takeUp(name: string, signal: AbortSignal): Promise<Date | undefined> {
    const record = await recordsIn(this.#host.storage).connections.get(name);
    if (!record?.root_pending) return undefined;
    const { connection, proof } = await this.#settle({ name, record }, signal);
    const { root_pending: pending } = connection.record;
    if (!pending) return undefined;
    if (proof === 'current') return new Date(pending.begun + CLAIM);
    if (proof === 'unprovable') {
      // Any login works, so the change can simply be made (again).
      await this.#connections.use(connection, async ({ session }) =>
        session.updateUser({
          username: requireText(record.details, 'username'),
          credential: pluginCredential(pending.made),
          statements: { commands: record.root_rotation_statements },
          signal,
        }),
      );
      await this.#promote(name, pending);
      return undefined;
    }
    throw new DatabaseFailed(name, 'neither the old nor the new root password logs in', 'unknown');
  }

  async #settle(connection: NamedConnection, signal: AbortSignal): Promise<{ connection: NamedConnection; proof: Proof }> {
    const { name, record } = connection;
    const pending = record.root_pending!;
    const proof = await this.#prove(connection, pending, signal);
    if (proof === 'candidate') await this.#promote(name, pending);
    // A statement that was on its way may still arrive for as long as the claim holds.
    else if (proof === 'current' && this.#now() >= pending.begun + CLAIM) await this.#drop(name, pending, 'the rotation did not happen');
    else return { connection, proof };
    const settled = await recordsIn(this.#host.storage).connections.get(name);
    return { connection: { name, record: settled ?? record }, proof };
  }

  async #prove(connection: NamedConnection, pending: PendingChange, signal: AbortSignal): Promise<Proof> {
    const { username, password } = connection.record.details;
    try {
      const passwords = { candidate: pending.made.data['password']!, current: typeof password === 'string' ? password : undefined };
      return await proveLogin(this.#connections, connection, String(username), passwords, signal);
    } catch {
      return 'neither';
    }
  }

  /** The candidate becomes the password. False where the connection was changed in between. */
  async #promote(name: string, pending: PendingChange): Promise<boolean> {
    return this.#change(name, pending, ({ last_root_error: _past, ...record }) => ({
      ...record,
      revision: record.revision + 1,
      details: { ...record.details, password: pending.made.data['password'] },
      last_root_rotation: this.#now(),
    }));
  }

  async #drop(name: string, pending: PendingChange, reason: string): Promise<boolean> {
    return this.#change(name, pending, (record) => ({ ...record, last_root_error: this.#errorOf(reason) }));
  }

  async #change(name: string, pending: PendingChange, change: (record: ConnectionRecord) => ConnectionRecord): Promise<boolean> {
    return this.#host.storage.transaction(async (tx) => {
      const { connections } = recordsIn(tx);
      const current = await connections.get(name);
      // Another process may have found out the same a moment ago.
      if (current && !current.root_pending) return current.details['password'] === pending.made.data['password'];
      if (current?.root_pending?.claim !== pending.claim) return false;
      const { root_pending: _decided, ...rest } = current;
      await connections.put(name, change(rest));
      await tx.unschedule(this.job as never, name);
      return true;
    });
  }

  #errorOf(message: string): { message: string; at: number } {
    return { message, at: this.#now() };
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

function requireText(details: Readonly<Record<string, unknown>>, field: string): string {
  const value = details[field];
  if (typeof value !== 'string' || value === '') {
    throw new InvalidRequest(`unable to rotate root credentials: no ${field} in configuration`);
  }
  return value;
}

function rotationFailed(name: string, error: unknown): unknown {
  if (!(error instanceof DatabaseFailed)) return error;
  return new DatabaseFailed(name, `failed to update user: ${error.detail}`, error.outcome);
}
