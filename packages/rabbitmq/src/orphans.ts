import { InvalidRequest, mapConcurrently, type EngineHost, type Intent } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { textOf } from './broker-failed.ts';
import type { BrokerService } from './broker-service.ts';
import { systemOf } from './connection.ts';
import type { DynamicUsers } from './dynamic-users.ts';
import { recordsIn } from './records.ts';
import type { UserMark } from './user-mark.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;
/** Removals at a time. */
const CONCURRENCY = 4;

const Removal = Type.Object({ username: Type.String() });

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
  readonly #service: BrokerService;
  readonly #users: DynamicUsers;
  readonly #mark: UserMark;

  constructor(host: EngineHost, service: BrokerService, users: DynamicUsers, mark: UserMark) {
    this.#host = host;
    this.#service = service;
    this.#users = users;
    this.#mark = mark;
    this.intent = {
      kind: 'remove-orphan',
      entry: Removal,
      minAgeSeconds: INTENT_AGE,
      target: () => service.target,
      takesBack: true,
      rollback: async ({ username }, _storage, signal) => users.remove(username, signal),
      outside: ({ username }) => ({ kind: 'RabbitMQ user', name: username, detail: 'an orphan that is being removed' }),
    };
  }

  /** Whether names of the present template carry the mark. */
  async marked(): Promise<boolean> {
    return this.#users.names((await this.#service.require()).username_template).marked;
  }

  /** Sorted. @throws InvalidRequest without a connection, BrokerFailed */
  async find(signal: AbortSignal): Promise<readonly string[]> {
    return this.#among(await this.#all(signal));
  }

  /** Removes these, or all. What is not there counts as removed. @throws InvalidRequest, and removes none, where one is no orphan */
  async remove(asked: readonly string[] | 'all', signal: AbortSignal): Promise<Removed> {
    const all = await this.#all(signal);
    const orphans = await this.#among(all);
    const wanted = asked === 'all' ? orphans : [...new Set(asked)];
    const other = wanted.find((name) => all.includes(name) && !orphans.includes(name));
    if (other !== undefined) {
      throw new InvalidRequest(`${JSON.stringify(other)} is no orphan: either this mount did not make it, or it is still in use`);
    }
    const removed: string[] = [];
    const pending: Record<string, string> = {};
    const there = wanted.filter((name) => orphans.includes(name));
    await mapConcurrently(there, CONCURRENCY, async (name) => {
      const failure = await this.#remove(name, signal);
      if (failure === undefined) removed.push(name);
      else pending[name] = failure;
    });
    return { removed: removed.sort(), gone: wanted.filter((name) => !there.includes(name)).sort(), pending };
  }

  async #all(signal: AbortSignal): Promise<readonly string[]> {
    return this.#service.use(async (broker) => broker.usernames(signal));
  }

  /** The names were read before the records: a user is recorded before it is made, so that a new one is never taken for an orphan. */
  async #among(names: readonly string[]): Promise<readonly string[]> {
    const connection = await this.#service.require();
    const made = new Map(await recordsIn(this.#host.storage).users.entries());
    const orphans: string[] = [];
    for (const name of names) {
      const known = made.get(name);
      if (known ? known.dropped !== true : !this.#mark.isOn(name)) continue;
      const account = { system: systemOf(connection), name };
      if (name === connection.username || (await this.#host.storage.managerOf(account)) !== undefined) continue;
      orphans.push(name);
    }
    return orphans.sort();
  }

  /** Resolves with what went wrong. */
  async #remove(username: string, signal: AbortSignal): Promise<string | undefined> {
    const intent = await this.#host.storage.transaction(async (tx) => {
      const known = await recordsIn(tx).users.get(username);
      if (known && known.dropped !== true) throw new InvalidRequest(`${JSON.stringify(username)} is no orphan: it is in use`);
      return tx.intend(this.intent, { username });
    });
    try {
      await this.#users.remove(username, signal);
    } catch (error) {
      // Whatever became of it: to remove a user twice does no harm.
      await this.#host.storage.transaction(async (tx) => tx.abandon(intent));
      return textOf(error);
    }
    await this.#host.storage.transaction(async (tx) => tx.settle(intent));
    return undefined;
  }
}
