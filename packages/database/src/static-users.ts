import { randomUUID } from 'node:crypto';
import { InternalError, InvalidRequest, TooManyRequests, type EngineHost, type Schedule } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { outcomeOf } from './call-failed.ts';
import type { Connections } from './connections.ts';
import { pluginCredential, type CredentialMaker, type MadeCredential } from './credential-maker.ts';
import { proveLogin, type Proof } from './login-proof.ts';
import { recordsIn, type PendingChange, type StaticRoleRecord } from './records.ts';
import { nextRotation, windowHasPassed } from './rotation-times.ts';

/** How long a rotation is nobody else's, in milliseconds: longer than a request or a job may take. */
export const CLAIM = 105_000;
/** When a rotation of unknown outcome is taken up again, in milliseconds. */
const SOON = 10_000;
/** A certificate outlives its rotation by this much, so that clients have the time to fetch the next one. Milliseconds. */
const CERTIFICATE_OVERLAP = 86_400_000;

const Job = Type.Object({ name: Type.String(), connection: Type.String() });

interface Claimed {
  readonly role: StaticRoleRecord;
  readonly pending: PendingChange;
  /** The change was begun before, and its outcome is not known. */
  readonly resumed: boolean;
}

/**
 * Users of the database's own whose credential is rotated. The candidate is stored before the database is touched. What has an unknown outcome is
 * begun again with the same candidate, and no candidate is dropped before a login has proven that the credential of before still works.
 */
export class StaticUsers {
  readonly job: Schedule<typeof Job>;
  readonly #host: EngineHost;
  readonly #connections: Connections;
  readonly #credentials: CredentialMaker;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(host: EngineHost, connections: Connections, credentials: CredentialMaker) {
    this.#host = host;
    this.#connections = connections;
    this.#credentials = credentials;
    this.job = {
      kind: 'rotate-static-role',
      entry: Job,
      target: (entry) => entry.connection,
      run: async ({ name }, _storage, signal) => this.#due(name, signal),
    };
  }

  /** Stores a new role and rotates its credential, which nobody else knows then. What fails is not stored. */
  async create(name: string, role: StaticRoleRecord, signal: AbortSignal): Promise<void> {
    await this.#alone(name, async () => {
      const pending = this.#newPending(await this.#make(name, role));
      const until = new Date(pending.until);
      await this.#host.storage.transaction(async (tx) => {
        const inside = recordsIn(tx);
        const before = await inside.staticRoles.get(name);
        if (before?.current || (before?.pending && before.pending.until > this.#now())) throw busy(name);
        if (await inside.roles.has(name)) throw new InvalidRequest('Role and Static Role names must be unique');
        await inside.staticRoles.put(name, { ...role, pending });
        await tx.schedule(this.job, name, until, { name, connection: role.db_name });
      });
      try {
        await this.#apply(name, role, pending.made, signal);
      } catch (error) {
        await this.#host.storage.transaction(async (tx) => {
          const inside = recordsIn(tx);
          if ((await inside.staticRoles.get(name))?.pending?.claim !== pending.claim) return;
          await inside.staticRoles.delete(name);
          await tx.unschedule(this.job as never, name);
        });
        throw error;
      }
      await this.#commit(name, pending, true);
    });
  }

  /** Rotates now. Several calls at a time are one rotation. @throws TooManyRequests while another process is at it. */
  async rotate(name: string, signal: AbortSignal): Promise<void> {
    const running = this.#underWay.get(name);
    if (running) {
      await running;
      return;
    }
    await this.#alone(name, async () => this.#rotate(name, signal, false));
  }

  /** The credential that the database takes now, and whether that is in doubt. Undefined while the role is being created. */
  async current(
    name: string,
    signal: AbortSignal,
  ): Promise<{ role: StaticRoleRecord; made: MadeCredential; since: number; doubtful: boolean } | undefined> {
    const { staticRoles } = recordsIn(this.#host.storage);
    let role = await staticRoles.get(name);
    if (role?.pending && this.#underWay.has(name)) {
      await this.#underWay.get(name)!.catch(() => undefined);
      role = await staticRoles.get(name);
    }
    if (!role?.current) return undefined;
    const stored = { role, made: role.current, since: role.last_rotation };
    if (!role.pending) return { ...stored, doubtful: false };
    const proof = await this.#prove(role, role.pending.made, signal).catch(() => 'neither' as const);
    if (proof === 'candidate') return { role, made: role.pending.made, since: role.pending.begun, doubtful: false };
    return { ...stored, doubtful: proof !== 'current' };
  }

  async #due(name: string, signal: AbortSignal): Promise<Date | undefined> {
    const role = await recordsIn(this.#host.storage).staticRoles.get(name);
    if (!role) return undefined;
    const now = this.#now();
    if (!role.pending && role.next_rotation > now) return new Date(role.next_rotation);
    if (role.pending && role.pending.until > now) return new Date(role.pending.until);
    if (role.current && windowHasPassed(role, role.next_rotation, now)) return this.#skip(name, role, signal);
    const running = this.#underWay.get(name);
    if (running) {
      await running;
      return this.#due(name, signal);
    }
    return this.#alone(name, async () => this.#rotate(name, signal, true));
  }

  /** The window is over: waits for the next time. Resolves with it. */
  async #skip(name: string, role: StaticRoleRecord, signal: AbortSignal): Promise<Date> {
    const next = nextRotation(role, this.#now());
    const proof = role.pending && (await this.#prove(role, role.pending.made, signal).catch(() => 'neither' as const));
    this.#host.log.warn('a static role was not rotated within its window', { role: name, next: new Date(next).toISOString() });
    await this.#change(name, role.pending?.claim, (current) => {
      const { pending, ...rest } = current;
      if (proof === 'candidate' && pending) return { ...rest, current: pending.made, last_rotation: pending.begun, next_rotation: next };
      return { ...(proof === 'current' ? rest : current), next_rotation: next };
    });
    return new Date(next);
  }

  async #rotate(name: string, signal: AbortSignal, byJob: boolean): Promise<Date> {
    const claimed = await this.#claim(name, byJob);
    const { role, pending } = claimed;
    try {
      await this.#apply(name, role, pending.made, signal);
    } catch (error) {
      if (!(await this.#afterFailure(name, claimed, error, signal, byJob))) throw error;
    }
    return this.#commit(name, pending, !byJob);
  }

  async #claim(name: string, byJob: boolean): Promise<Claimed> {
    const { staticRoles } = recordsIn(this.#host.storage);
    const seen = await staticRoles.get(name);
    if (!seen) throw new InvalidRequest('no static role found for role name');
    const fresh = seen.pending ? undefined : await this.#make(name, seen);
    return this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx);
      const role = await inside.staticRoles.get(name);
      if (!role) throw new InvalidRequest('no static role found for role name');
      if (role.pending && role.pending.until > this.#now()) throw busy(name);
      const made = role.pending?.made ?? fresh;
      // Somebody rotated it since it was looked at: what is asked for has just been done.
      if (!made || role.last_rotation !== seen.last_rotation) throw busy(name);
      const pending = this.#newPending(made);
      await inside.staticRoles.put(name, { ...role, pending });
      // A job that is running has a claim of its own, and comes back by itself.
      if (!byJob) await tx.schedule(this.job, name, new Date(pending.until), { name, connection: role.db_name });
      return { role, pending, resumed: role.pending !== undefined };
    });
  }

  async #apply(name: string, role: StaticRoleRecord, made: MadeCredential, signal: AbortSignal): Promise<void> {
    const connection = await this.#connections.forRole(role.db_name, name);
    await this.#connections.use(connection, async ({ session }) =>
      session.updateUser({
        username: role.username,
        credential: pluginCredential(made),
        statements: { commands: role.rotation_statements },
        signal,
      }),
    );
  }

  /** Stores the result and the next time. */
  async #commit(name: string, { claim, made }: PendingChange, schedule: boolean): Promise<Date> {
    const now = this.#now();
    return this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx);
      const role = await inside.staticRoles.get(name);
      if (!role) return new Date(now);
      if (role.pending?.claim !== claim) throw new InternalError(`the rotation of ${name} took too long, and another one has begun`);
      const next = nextRotation(role, now);
      const { pending: _done, ...rest } = role;
      await inside.staticRoles.put(name, { ...rest, current: made, last_rotation: now, next_rotation: next });
      if (schedule) await tx.schedule(this.job, name, new Date(next), { name, connection: role.db_name });
      return new Date(next);
    });
  }

  /** Decides about the candidate after a failure. True when it turns out that the database has it. */
  async #afterFailure(name: string, claimed: Claimed, error: unknown, signal: AbortSignal, byJob: boolean): Promise<boolean> {
    const { role, pending, resumed } = claimed;
    const outcome = outcomeOf(error);
    let drop = outcome === 'unsent' && !resumed;
    if (outcome === 'refused' && role.current) {
      const proof = await this.#prove(role, pending.made, signal).catch(() => 'neither' as const);
      if (proof === 'candidate') return true;
      drop = proof === 'current';
    }
    await this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx);
      const current = await inside.staticRoles.get(name);
      if (current?.pending?.claim !== pending.claim) return;
      const { pending: _dropped, ...rest } = current;
      // What the database could not do is tried again; what cannot be done as it was asked for is not.
      const next = outcome === 'unsent' ? rest.next_rotation : Math.min(rest.next_rotation, this.#now());
      await inside.staticRoles.put(name, { ...rest, next_rotation: next, ...(drop ? {} : { pending: { ...pending, until: 0 } }) });
      if (byJob) return;
      await tx.schedule(this.job, name, new Date(Math.max(next, this.#now() + SOON)), { name, connection: role.db_name });
    });
    return false;
  }

  async #prove(role: StaticRoleRecord, candidate: MadeCredential, signal: AbortSignal): Promise<Proof> {
    const password = candidate.data['password'];
    if (password === undefined) return 'unprovable';
    const connection = await this.#connections.require(role.db_name);
    return proveLogin(
      this.#connections,
      connection,
      role.username,
      { candidate: password, current: role.current?.data['password'] },
      signal,
    );
  }

  async #make(name: string, role: StaticRoleRecord): Promise<MadeCredential> {
    const { record } = await this.#connections.forRole(role.db_name, name);
    return this.#credentials.make({
      type: role.credential_type,
      config: role.credential_config,
      username: role.username,
      displayName: role.username,
      roleName: name,
      passwordPolicy: record.password_policy,
      expiresAt: new Date(nextRotation(role, this.#now()) + CERTIFICATE_OVERLAP),
    });
  }

  async #change(name: string, claim: string | undefined, change: (role: StaticRoleRecord) => StaticRoleRecord): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const { staticRoles } = recordsIn(tx);
      const role = await staticRoles.get(name);
      if (role && role.pending?.claim === claim) await staticRoles.put(name, change(role));
    });
  }

  #newPending(made: MadeCredential): PendingChange {
    const now = this.#now();
    return { made, begun: now, claim: randomUUID(), until: now + CLAIM };
  }

  async #alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#underWay.has(name)) throw busy(name);
    const running = work();
    this.#underWay.set(name, running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(name);
    }
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

function busy(name: string): TooManyRequests {
  return new TooManyRequests(`the static role ${name} is being rotated`, { headers: { 'Retry-After': '1' } });
}
