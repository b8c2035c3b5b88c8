import { noOrphan, removeOrphans, type EngineHost, type Intent, type OrphanRemover, type RemovedOrphans } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
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
  async remove(asked: readonly string[] | 'all', signal: AbortSignal): Promise<RemovedOrphans> {
    const all = await this.#all(signal);
    const orphans = await this.#among(all);
    const wanted = asked === 'all' ? orphans : [...new Set(asked)];
    const other = wanted.find((name) => all.includes(name) && !orphans.includes(name));
    if (other !== undefined) {
      throw noOrphan(other);
    }
    const there = wanted.filter((name) => orphans.includes(name));
    const gone = wanted.filter((name) => !there.includes(name)).sort();
    return { ...(await removeOrphans(this.#host.storage, there, CONCURRENCY, this.#remover(signal))), gone };
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

  #remover(signal: AbortSignal): OrphanRemover<string, Static<typeof Removal>> {
    return {
      nameOf: (username) => username,
      note: async (tx, username) => {
        const known = await recordsIn(tx).users.get(username);
        if (known && known.dropped !== true) throw noOrphan(username, 'it is in use');
        const removal = { username };
        return { intent: await tx.intend(this.intent, removal), removal };
      },
      remove: async ({ username }) => this.#users.remove(username, signal),
      textOf,
    };
  }
}
