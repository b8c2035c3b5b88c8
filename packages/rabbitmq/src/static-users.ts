import { BadRequest, EngineError, type EngineHost, type ManagedAccount } from '@strongroom/engine-sdk';
import { creationOpen, ownState, requireProven, Rotation, type ImportedPassword } from '@strongroom/rotation';
import { BrokerFailed, BrokerMisused, outcomeOf, textOf } from './broker-failed.ts';
import type { BrokerService } from './broker-service.ts';
import { systemOf } from './connection.ts';
import { makePassword } from './password-maker.ts';
import { changePassword, provePassword } from './password-change.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';

/** Users that RabbitMQ already has, and whose password is rotated. */
export class StaticUsers {
  readonly rotation: Rotation<StaticRoleRecord, string>;
  readonly #host: EngineHost;
  readonly #service: BrokerService;

  constructor(host: EngineHost, service: BrokerService) {
    this.#host = host;
    this.#service = service;
    this.rotation = new Rotation(host, {
      kind: 'rotate-static-role',
      noun: 'static role',
      about: (name) => ({ noun: 'static role', name, path: `static-roles/${name}`, retry: `rotate-role/${name}` }),
      reported: (name) => ({ name, paths: [`static-creds/${name}`, `static-roles/${name}`] }),
      lens: ownState<StaticRoleRecord, string>(),
      records: (storage) => recordsIn(storage).staticRoles,
      plan: (role) => role,
      target: () => service.target,
      make: async () => makePassword(host, (await service.require()).password_policy),
      apply: async ({ record, candidate, signal }) =>
        service.use(async (broker) => changePassword(broker, record.username, candidate, signal)),
      outcomeOf,
      messageOf: textOf,
      prove: async ({ record, candidate, signal }) =>
        service.use(async (broker) => provePassword(broker, record.username, { candidate, current: record.current }, signal)),
      unproven: (_name, _role, text) => new BrokerFailed(text, 'unknown', { answered: true }),
      claims: {
        by: (name) => `static role "${name}"`,
        called: ({ username }) => username,
        identify: async (_name, role) => this.#account(role),
      },
      subject: ({ username }) => username,
      missing: (name) => new BadRequest(`unknown role: ${name}`),
    });
  }

  /**
   * Stores a new role and rotates its password, which nobody else knows then. What certainly changed nothing is not stored. `adopt` takes the user over
   * from whoever manages it. @throws BrokerMisused for a user that is not there, or that the mount itself logs in with; BrokerFailed
   */
  async create(name: string, role: StaticRoleRecord, signal: AbortSignal, adopt: boolean): Promise<string | undefined> {
    const located = await this.#located(role, signal);
    try {
      return await this.rotation.create(name, located, signal, { adopt });
    } catch (error) {
      if (!(error instanceof BrokerFailed) || !(await this.rotation.isStored(name))) throw error;
      const kept = 'whether the password was changed is not known; the role is kept, and the rotation is retried in the background';
      throw new BrokerFailed(`${error.message}: ${kept}`, 'unknown', { answered: error.answered, cause: error });
    }
  }

  /**
   * Stores a new role whose password stays as it is until its plan brings the first rotation. A password that is given is proven by a login first.
   * @throws as `create`, and BadRequest for a password that no login proves
   */
  async createUnrotated(
    name: string,
    role: StaticRoleRecord,
    { password, verify }: ImportedPassword,
    signal: AbortSignal,
    adopt: boolean,
  ): Promise<void> {
    const located = await this.#located(role, signal);
    const { username } = role;
    if (password !== undefined && verify) {
      const login = { candidate: password, current: undefined };
      const proof = await this.#service.use(async (broker) => provePassword(broker, username, login, signal));
      requireProven(proof, { system: 'RabbitMQ', noun: 'user', name: username });
    }
    const record = { ...located, ...(password === undefined ? {} : { current: password }) };
    await this.#host.storage.transaction(async (tx) => {
      const before = await recordsIn(tx).staticRoles.get(name);
      if (before) throw creationOpen(`role ${name}`, before, this.#host.clock.millis());
      await this.rotation.adopt(tx, name, record, { adopt });
    });
  }

  async rotate(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.rotation.rotate(name, signal);
    } catch (error) {
      throw error instanceof EngineError ? error : new BrokerFailed(textOf(error), outcomeOf(error), { cause: error });
    }
  }

  /** With the user in the registry of managed accounts. @throws BrokerMisused for a user that is not there, or that the mount itself logs in with */
  async #located(role: StaticRoleRecord, signal: AbortSignal): Promise<StaticRoleRecord> {
    const { username } = role;
    await this.#service.use(async (broker, connection) => {
      if (username === connection.username) {
        throw new BrokerMisused(
          `the mount itself logs in as ${JSON.stringify(username)}: rotate-root changes its password; name another user`,
        );
      }
      if ((await broker.tagsOf(username, signal)) === undefined)
        throw new BrokerMisused(`RabbitMQ has no user ${JSON.stringify(username)}`);
    });
    return { ...role, managed_account: await this.#account(role) };
  }

  async #account({ username }: StaticRoleRecord): Promise<ManagedAccount> {
    return { system: systemOf(await this.#service.require()), name: username };
  }
}
