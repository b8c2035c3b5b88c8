import { EngineError, type EngineHost, type Transaction } from '@strongroom/engine-sdk';
import { claimAccount, manualPlan, present, Rotation, type StateLens } from '@strongroom/rotation';
import { BrokerFailed, BrokerMisused, outcomeOf, textOf } from './broker-failed.ts';
import { ROOT_MANAGER, type BrokerService } from './broker-service.ts';
import { changesRoot, rootPlan, systemOf, type Connection } from './connection.ts';
import { makePassword } from './password-maker.ts';
import { changePassword, provePassword } from './password-change.ts';
import { CONNECTION, recordsIn } from './records.ts';

const rootState: StateLens<Connection, string> = {
  state: ({ root, password }) => ({ ...(root ?? { last_rotation: 0, next_rotation: 0 }), current: password }),
  withState: (connection, { current, ...root }) => ({ ...connection, password: current ?? connection.password, root: present(root) }),
};

/** Rotation of the password that the mount itself logs in with. */
export class RootRotation {
  readonly rotation: Rotation<Connection, string>;
  readonly #host: EngineHost;
  readonly #service: BrokerService;

  constructor(host: EngineHost, service: BrokerService) {
    this.#host = host;
    this.#service = service;
    this.rotation = new Rotation(host, {
      kind: 'rotate-root',
      noun: 'root credential of',
      about: (_id, { username }) => ({ noun: 'root credential', name: username, path: 'config/connection', retry: 'rotate-root' }),
      reported: () => ({ name: 'config/connection', paths: ['config/connection'] }),
      lens: rootState,
      records: (storage) => recordsIn(storage).connection,
      plan: (connection) => rootPlan(connection),
      target: () => service.target,
      make: async (_id, { password_policy }) => makePassword(host, password_policy),
      apply: async ({ record, candidate, signal }) =>
        service.useAsIs(record, async (broker) => changePassword(broker, record.username, candidate, signal)),
      outcomeOf,
      messageOf: textOf,
      prove: async ({ record, candidate, signal }) =>
        service.useAsIs(record, async (broker) => provePassword(broker, record.username, { candidate, current: record.password }, signal)),
      unproven: (_id, _connection, text) => new BrokerFailed(text, 'unknown', { answered: true }),
      claims: {
        by: () => ROOT_MANAGER,
        called: ({ username }) => username,
        identify: async (_id, connection) => accountOf(connection),
      },
      ofItself: true,
      keepsPrevious: true,
      missing: () => new BrokerMisused('RabbitMQ is not configured yet: write config/connection first'),
    });
    service.root = this;
  }

  /** The record, once it is found out which password is taken, as far as that can be told now. */
  async settle(connection: Connection): Promise<Connection> {
    return (await this.rotation.settle(CONNECTION, connection, new AbortController().signal)).record;
  }

  /** Stores a connection that was written over `before`, inside the transaction of the write. The plan of another user counts from now. */
  async store(tx: Transaction, next: Connection, before: Connection | undefined): Promise<void> {
    const plan = before && changesRoot(before, next) === undefined ? rootPlan(before) : manualPlan;
    await this.rotation.update(tx, CONNECTION, { ...next, plan }, next);
  }

  /**
   * `adopt` takes the user over from whoever manages it now. @throws InvalidRequest without a connection, BadRequest where another one manages the user,
   * TooManyRequests while another process rotates, BrokerFailed.
   */
  async rotate(signal: AbortSignal, adopt: boolean): Promise<void> {
    await this.#service.require();
    if (adopt) await this.#adopt();
    try {
      await this.rotation.rotate(CONNECTION, signal);
    } catch (error) {
      throw error instanceof EngineError ? error : new BrokerFailed(textOf(error), outcomeOf(error), { cause: error });
    }
  }

  async #adopt(): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const { connection: collection } = recordsIn(tx);
      const connection = await collection.get(CONNECTION);
      if (!connection) return;
      const account = accountOf(connection);
      await claimAccount(tx, { account, by: ROOT_MANAGER, called: connection.username, adopt: true });
      const root = { ...(connection.root ?? { last_rotation: 0, next_rotation: 0 }), managed_account: account };
      await collection.put(CONNECTION, { ...connection, root });
    });
  }
}

function accountOf(connection: Connection): { readonly system: string; readonly name: string } {
  return { system: systemOf(connection), name: connection.username };
}
