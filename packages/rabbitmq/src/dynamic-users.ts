import {
  InvalidRequest,
  issue,
  type EngineHost,
  type EngineRequest,
  type Intent,
  type OpenIntent,
  type OutsideThing,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { deleteUser } from './broker.ts';
import { BrokerFailed, outcomeOf, textOf } from './broker-failed.ts';
import type { BrokerService } from './broker-service.ts';
import { leaseTerms } from './lease-terms.ts';
import { makePassword } from './password-maker.ts';
import { recordsIn, type MadeUser, type RoleRecord } from './records.ts';
import { creationOf } from './role.ts';
import type { UserMark } from './user-mark.ts';
import { UserNames } from './user-names.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;

const Creation = Type.Object({ role: Type.String(), username: Type.String() });
type Creation = Static<typeof Creation>;

/** Users that are made for a lease and deleted with it. */
export class DynamicUsers {
  readonly intent: Intent<typeof Creation>;
  readonly secret: SecretType<typeof Creation>;
  readonly #host: EngineHost;
  readonly #service: BrokerService;
  readonly #mark: UserMark;
  #names: UserNames | undefined;

  constructor(host: EngineHost, service: BrokerService, mark: UserMark) {
    this.#host = host;
    this.#service = service;
    this.#mark = mark;
    const target = (): string => service.target;
    this.intent = {
      kind: 'create-user',
      entry: Creation,
      minAgeSeconds: INTENT_AGE,
      target,
      rollback: async ({ username }, _storage, signal) => this.remove(username, signal),
      outside: outsideUser,
    };
    this.secret = {
      type: 'creds',
      internal: Creation,
      target,
      renew: async () => leaseTerms(host.storage),
      revoke: async ({ internal, signal }) => this.remove(internal.username, signal),
      outside: outsideUser,
      // The user may be there still, as an orphan.
      dropped: async ({ role, username }, tx) => recordsIn(tx).users.put(username, { role, dropped: true }),
    };
  }

  /** The names of the template. @throws BadRequest */
  names(template: string): UserNames {
    if (this.#names?.source !== template) this.#names = new UserNames(template, this.#host, this.#mark);
    return this.#names;
  }

  /** Makes a user of the role: first what is about to happen is stored, then RabbitMQ is asked, then the core stores the lease. */
  async create(req: EngineRequest, roleName: string, role: RoleRecord) {
    const { username_template, password_policy } = await this.#service.require();
    const names = this.names(username_template);
    const username = names.next(req.caller.displayName, roleName);
    const password = await makePassword(this.#host, password_policy);
    const terms = await leaseTerms(this.#host.storage);
    if (!names.unique) await this.#requireFree(username, req.signal);
    const creation: Creation = { role: roleName, username };
    const intent = await this.#intend(creation);
    let begun = false;
    try {
      await this.#service.use(async (broker) => {
        for (const change of creationOf(role, username, password)) {
          await broker.change(change, req.signal);
          begun = true;
        }
      });
    } catch (error) {
      await this.#failed(intent, username, begun, error);
      throw creationFailed(error);
    }
    return { data: { username, password }, secret: issue(this.secret, { internal: creation, terms, fulfils: intent }) };
  }

  /** Deletes the user. One that is gone already is fine. @throws BrokerFailed, InvalidRequest without a connection */
  async remove(username: string, signal: AbortSignal): Promise<void> {
    await this.#service.use(async (broker) => broker.change(deleteUser(username), signal));
    await recordsIn(this.#host.storage).users.delete(username);
  }

  /** Users that no lease deletes any more: an operator let go of their leases. */
  async outside(): Promise<OutsideThing[]> {
    const left = (await recordsIn(this.#host.storage).users.entries()).filter(([, { dropped }]) => dropped === true);
    return left.map(([username, { role }]) => outsideUser({ role, username }));
  }

  /** A PUT of a user that exists would take it over. @throws InvalidRequest */
  async #requireFree(username: string, signal: AbortSignal): Promise<void> {
    const tags = await this.#service.use(async (broker) => broker.tagsOf(username, signal));
    if (tags === undefined) return;
    throw new InvalidRequest(`there is a user ${JSON.stringify(username)} already: username_template gives names that repeat`);
  }

  async #intend(creation: Creation): Promise<OpenIntent> {
    return this.#host.storage.transaction(async (tx) => {
      const { users } = recordsIn(tx);
      const known = await users.get(creation.username);
      if (known && known.dropped !== true) {
        throw new InvalidRequest(`a user ${JSON.stringify(creation.username)} is in use: username_template gives names that repeat`);
      }
      const made: MadeUser = { role: creation.role };
      await users.put(creation.username, made);
      return tx.intend(this.intent, creation);
    });
  }

  /** A call whose outcome is unknown is left to the journal; what was refused half-way is undone now, and by the journal where that fails. */
  async #failed(intent: OpenIntent, username: string, begun: boolean, error: unknown): Promise<void> {
    const outcome = outcomeOf(error);
    if (outcome === 'unknown') return;
    const undone = !begun || (await this.#undo(username));
    await this.#host.storage.transaction(async (tx) => {
      if (!undone) return tx.abandon(intent);
      await recordsIn(tx).users.delete(username);
      return tx.settle(intent);
    });
  }

  /** Not by the signal of the request: what was begun is cleaned up also when its caller is gone. */
  async #undo(username: string): Promise<boolean> {
    try {
      await this.#service.use(async (broker) => broker.change(deleteUser(username), new AbortController().signal));
      return true;
    } catch (error) {
      this.#host.log.warn('a user whose creation failed could not be deleted yet', { mount: this.#host.mount.path, error: textOf(error) });
      return false;
    }
  }
}

function outsideUser({ role, username }: Creation): OutsideThing {
  return { kind: 'RabbitMQ user', name: username, detail: `made by the role ${JSON.stringify(role)}` };
}

function creationFailed(error: unknown): unknown {
  if (!(error instanceof BrokerFailed)) return error;
  const { outcome, answered, cause } = error;
  return new BrokerFailed(`failed to create a new user: ${error.message}`, outcome, { answered, cause });
}
