import { randomUUID } from 'node:crypto';
import {
  BadRequest,
  issue,
  type EngineHost,
  type EngineRequest,
  type Intent,
  type OpenIntent,
  type OutsideThing,
  type Schedule,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { during, outcomeOf } from './cloud-error.ts';
import type { AccessKey, MadeUser } from './cloud-provider.ts';
import type { ManagedKeys } from './managed-keys.ts';
import { leaseTerms } from './lease-terms.ts';
import { USUAL_PROPAGATION, waitUntilAccepted } from './propagation.ts';
import { recordsIn, type UserRecord } from './records.ts';
import { OWN_TAG } from './role-rules.ts';
import type { Role } from './roles.ts';
import type { Root } from './root.ts';
import { accountTarget } from './targets.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;
/** So long a user that was made may not be seen by those who look for it. Milliseconds. */
const SETTLING = 60_000;
/** How long a request waits for a new key. Milliseconds. */
const PATIENCE = 45_000;

export const MOUNT_TAG = `${OWN_TAG}mount`;
export const CREATION_TAG = `${OWN_TAG}creation`;

const Creation = Type.Object({
  username: Type.String(),
  creation: Type.String(),
  /** Milliseconds. */
  begun: Type.Number(),
  /** The account that it is made in, where that is known before. */
  account: Type.Optional(Type.String()),
});
type Creation = Static<typeof Creation>;

const Internal = Type.Object({
  username: Type.String(),
  /** The provider's own id of the user, and the account that it is in. */
  user_id: Type.String(),
  account: Type.String(),
  creation: Type.String(),
  /** Milliseconds. */
  begun: Type.Number(),
});

export interface UserToRemove {
  readonly username: string;
  readonly creation: string;
  readonly begun: number;
  readonly user_id?: string;
  readonly account?: string;
}

/** Users that are made for a lease and taken away with it. */
export class DynamicUsers {
  readonly intent: Intent<typeof Creation>;
  readonly secret: SecretType<typeof Internal>;
  /** Looks once more for a user that could not be seen when it was to be removed. */
  readonly sweep: Schedule<typeof Creation>;
  readonly #host: EngineHost;
  readonly #root: Root;
  readonly #managed: ManagedKeys;

  constructor(host: EngineHost, root: Root, managed: ManagedKeys) {
    this.#host = host;
    this.#root = root;
    this.#managed = managed;
    // What is in another account than the root credential must not hold up the rest.
    const target = ({ account }: { account?: string }): string => accountTarget(host, account);
    this.intent = {
      kind: 'create-user',
      entry: Creation,
      minAgeSeconds: INTENT_AGE,
      target,
      rollback: async (entry, _storage, signal) => this.remove(entry, signal),
      outside: (entry) => this.#thing(entry, 'being made, or to be removed'),
    };
    this.sweep = {
      kind: 'sweep-user',
      entry: Creation,
      target,
      run: async (entry, _storage, signal) => {
        await this.remove(entry, signal);
        return undefined;
      },
    };
    this.secret = {
      type: 'access_keys',
      internal: Internal,
      target,
      renew: async (lease) => {
        const terms = await leaseTerms(host.storage);
        const { username } = lease.internal;
        const until = lease.issuedAt.getTime() + host.limit(terms).maxTtl * 1_000;
        await host.storage.transaction(async (tx) => {
          const { users } = recordsIn(tx);
          const user = await users.get(username);
          if (user && user.until < until) await users.put(username, { ...user, until });
        });
        return terms;
      },
      revoke: async ({ internal, signal }) => this.remove(internal, signal),
      outside: (internal) => this.#thing(internal),
      dropped: async ({ username, creation }, tx) => {
        const { users } = recordsIn(tx);
        const user = await users.get(username);
        if (user?.creation === creation) await users.put(username, { ...user, dropped: true });
      },
    };
  }

  /** Makes a user of the role: first what is about to happen is stored, then the provider is asked, then the core stores the lease. */
  async create(req: EngineRequest, roleName: string, role: Role, waits: boolean) {
    const { names } = await this.#root.require();
    const terms = await leaseTerms(this.#host.storage);
    const username = names.next('IAM', req.caller.displayName, roleName);
    const account = await this.#root.account(req.signal);
    const begun = this.#host.clock.millis();
    const creation: Creation = { username, creation: randomUUID(), begun, ...(account === undefined ? {} : { account }) };
    const intent = await this.#intend(creation, {
      role: roleName,
      creation: creation.creation,
      begun: creation.begun,
      until: creation.begun + this.#host.limit(terms).maxTtl * 1_000,
      ...(account === undefined ? {} : { account }),
    });
    const user = await this.#make(creation, intent, role, req.signal);
    const key = await this.#equip(creation, intent, roleName, role, req.signal);
    const { clock } = this.#host;
    const ready = waits && (await this.#isReady(key, intent, req.signal));
    const internal = { ...creation, user_id: user.id, account: user.account };
    return {
      data: {
        access_key: key.access_key,
        secret_key: key.secret_key,
        security_token: null,
        ready_at: new Date(clock.millis() + (ready ? 0 : USUAL_PROPAGATION)).toISOString(),
      },
      secret: issue(this.secret, { internal, terms, fulfils: intent }),
      ...(waits && !ready ? { warnings: ['the provider does not accept the new key yet; try it again in a while'] } : {}),
    };
  }

  tagsOf(role: Role, creation: string): Record<string, string> {
    return { ...role.iam_tags, [MOUNT_TAG]: this.#host.mount.uuid, [CREATION_TAG]: creation };
  }

  /** Removes a user of ours with all that hangs on it. What is not there, or is somebody else's by now, counts as removed. */
  async remove(user: UserToRemove, signal: AbortSignal): Promise<void> {
    const { username, creation, begun, user_id: id, account } = user;
    const removal = this.#root.use(async (session) => session.removeUser(username, { id, tag: [CREATION_TAG, creation] }, signal));
    const outcome = await during('error removing IAM user', removal);
    if (outcome === 'absent') await this.#root.sessionFor({ user: username, account }, signal);
    const unseen = outcome === 'absent' && this.#host.clock.millis() < begun + SETTLING;
    await this.#host.storage.transaction(async (tx) => {
      if (unseen) {
        const later = { username, creation, begun, ...(account === undefined ? {} : { account }) };
        await tx.schedule(this.sweep, creation, new Date(begun + 2 * SETTLING), later);
        return;
      }
      const { users } = recordsIn(tx);
      if ((await users.get(username))?.creation === creation) await users.delete(username);
    });
  }

  /** Users that no lease removes any more: an operator let go of their leases. */
  async outside(): Promise<OutsideThing[]> {
    const left = (await recordsIn(this.#host.storage).users.entries()).filter(([, { dropped }]) => dropped === true);
    return left.map(([username, { role, account }]) => {
      const detail = `made for role ${JSON.stringify(role)}; its lease was dropped without removing it`;
      return this.#thing({ username, ...(account === undefined ? {} : { account }) }, detail);
    });
  }

  #thing({ username: name, account }: { username: string; account?: string }, detail?: string): OutsideThing {
    const system = this.#managed.systemOf(account ?? '');
    return { kind: 'user', name, system, ...(detail === undefined ? {} : { detail }) };
  }

  async #intend(creation: Creation, record: UserRecord): Promise<OpenIntent> {
    return this.#host.storage.transaction(async (tx) => {
      const { users } = recordsIn(tx);
      if (await users.has(creation.username)) {
        throw new BadRequest('a user of that name is in use: username_template gives names that repeat');
      }
      await users.put(creation.username, record);
      return tx.intend(this.intent, creation);
    });
  }

  async #make(
    { username, creation }: { username: string; creation: string },
    intent: OpenIntent,
    role: Role,
    signal: AbortSignal,
  ): Promise<MadeUser> {
    const user = {
      name: username,
      path: role.user_path || '/',
      boundary: role.permissions_boundary_arn,
      tags: this.tagsOf(role, creation),
    };
    try {
      return await during(
        'Error creating IAM user',
        this.#root.use(async (session) => session.createUser(user, signal)),
      );
    } catch (error) {
      // Nothing was made, or the name is somebody else's: there is nothing to undo. What is not known is left to the journal.
      if (outcomeOf(error) !== 'unknown') {
        await this.#host.storage.transaction(async (tx) => {
          await recordsIn(tx).users.delete(username);
          await tx.settle(intent);
        });
      }
      throw error;
    }
  }

  async #equip(
    { username }: { username: string },
    intent: OpenIntent,
    roleName: string,
    role: Role,
    signal: AbortSignal,
  ): Promise<AccessKey> {
    const rights = {
      policyArns: role.policy_arns,
      policyDocument: role.policy_document,
      policyName: roleName,
      groups: role.iam_groups,
    };
    try {
      await during(
        'Error equipping IAM user',
        this.#root.use(async (session) => session.equipUser(username, rights, signal)),
      );
      return await during(
        'Error creating access keys',
        this.#root.use(async (session) => session.createKey(username, signal)),
      );
    } catch (error) {
      // The user is there for certain, and goes at once.
      await this.#host.storage.transaction(async (tx) => tx.abandon(intent));
      throw error;
    }
  }

  async #isReady(key: AccessKey, intent: OpenIntent, signal: AbortSignal): Promise<boolean> {
    const { session } = await this.#root.require();
    try {
      return await waitUntilAccepted(session, key, { clock: this.#host.clock, atMost: PATIENCE, signal });
    } catch (error) {
      if (!signal.aborted) {
        // That it cannot be tried says nothing against the key.
        this.#host.log.warn('a new key could not be tried', { error: (error as Error).message });
        return false;
      }
      await this.#host.storage.transaction(async (tx) => tx.abandon(intent));
      throw error;
    }
  }
}
