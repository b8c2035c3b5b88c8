import { BadRequest, InvalidRequest, type EngineHost, type ManagedAccount, type Transaction } from '@strongroom/engine-sdk';
import {
  creationOpen,
  ownState,
  requireProven,
  retriedAfter,
  Rotation,
  type Change,
  type ImportedPassword,
  type Proof,
} from '@strongroom/rotation';
import { changePassword, identify, locate, provePassword } from './account-entry.ts';
import { DirectoryFailed, DirectoryMisused, outcomeOf, textOf, type PasswordPlace } from '@strongroom/ldap-client';
import { makeAccountPassword } from './account-password.ts';
import { claim, claimsOf, managerName, release } from './managed-accounts.ts';
import { changeOwnPassword, identifyOwn, locateOwn, loginNameOf, proveOwnPassword } from './own-account.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import { requireNotRoot } from './root-address.ts';
import type { DirectoryService } from './service.ts';

/** The password that an account has now, which changes it by itself. */
export interface OwnPassword {
  readonly password: string;
  /** Leave it until the plan brings the first rotation. */
  readonly skipRotation: boolean;
}

type StaticChange = Change<StaticRoleRecord, string>;

/** Accounts that the directory already has, and whose password is rotated. */
export class StaticAccounts {
  readonly rotation: Rotation<StaticRoleRecord, string, PasswordPlace | undefined>;
  readonly #host: EngineHost;
  readonly #service: DirectoryService;

  constructor(host: EngineHost, service: DirectoryService) {
    this.#host = host;
    this.#service = service;
    this.rotation = new Rotation(host, {
      kind: 'rotate-static-role',
      noun: 'static role',
      about: (name) => ({ noun: 'static role', name, path: `static-role/${name}`, retry: `rotate-role/${name}` }),
      reported: (name) => ({ name, paths: [`static-cred/${name}`, `static-role/${name}`] }),
      lens: ownState<StaticRoleRecord, string>(),
      records: (storage) => recordsIn(storage).staticRoles,
      plan: (role) => role,
      target: () => service.target,
      make: async (_name, { password_policy }) => makeAccountPassword(host, await service.require(), password_policy),
      apply: async (change) => this.#apply(change),
      outcomeOf,
      messageOf: textOf,
      prove: async (change, found) => this.#prove(change, found),
      unproven: (_name, _role, text) => new DirectoryFailed(text, 'unknown'),
      claims: {
        by: (name) => managerName({ kind: 'static-role', owner: name }),
        called: ({ username }) => username,
        identify: async (_name, role, signal) => this.#identify(role, signal),
      },
      keepsPrevious: true,
      subject: ({ dn, username }) => dn || username,
      missing: (name) => new BadRequest(`role doesn't exist: ${name}`),
    });
  }

  /**
   * Stores a new role and rotates its password, which nobody else knows then. What certainly changed nothing is not stored. `adopt` takes the account
   * over from whoever manages it.
   */
  async create(name: string, role: StaticRoleRecord, signal: AbortSignal, adopt?: boolean): Promise<string | undefined> {
    const record = await this.#located(role, signal);
    const by = { kind: 'static-role', owner: name } as const;
    try {
      const check = async (tx: Transaction): Promise<void> => claim(tx, role.username, record.claims, by, { adopt });
      return await this.rotation.create(name, record, signal, { check, adopt });
    } catch (error) {
      await this.#host.storage.transaction(async (tx) => {
        if (!(await recordsIn(tx).staticRoles.has(name))) await release(tx, record.claims, by);
      });
      throw error;
    }
  }

  /**
   * Stores a new role whose password stays as it is until its plan brings the first rotation. A password that is given is proven by a login first.
   * @throws BadRequest for a password that no login proves
   */
  async createUnrotated(
    name: string,
    role: StaticRoleRecord,
    given: ImportedPassword,
    signal: AbortSignal,
    adopt?: boolean,
  ): Promise<void> {
    const located = await this.#located(role, signal);
    const { password: current } = given;
    if (current !== undefined && given.verify) await this.#requireProof(located, current, signal);
    const record = { ...located, ...(current === undefined ? {} : { current }) };
    await this.#host.storage.transaction(async (tx) => {
      const before = await recordsIn(tx).staticRoles.get(name);
      if (before) throw creationOpen(`role ${name}`, before, this.#host.clock.millis());
      await claim(tx, role.username, record.claims, { kind: 'static-role', owner: name }, { adopt });
      await this.rotation.adopt(tx, name, record, { adopt });
    });
  }

  /**
   * Stores a new role whose account changes its own password, which is proven by a login first, and rotates it unless that is skipped. Resolves with a
   * warning where not all went well. @throws BadRequest for a password that no login proves
   */
  async createSelfManaged(
    name: string,
    role: StaticRoleRecord,
    { password, skipRotation }: OwnPassword,
    signal: AbortSignal,
    adopt?: boolean,
  ): Promise<string | undefined> {
    await this.requireOwnPassword(role, password, signal);
    const { dn, account } = await locateOwn(this.#service, role, password, signal);
    const claims = claimsOf(role.username, [role.dn, dn]);
    const record = { ...withOwnPassword(role, password), claims, managed_account: account };
    await this.#host.storage.transaction(async (tx) => {
      const { staticRoles } = recordsIn(tx);
      const before = await staticRoles.get(name);
      if (before) throw creationOpen(`role ${name}`, before, this.#host.clock.millis());
      await claim(tx, role.username, claims, { kind: 'static-role', owner: name }, { adopt });
      await this.rotation.adopt(tx, name, record, { adopt });
      if (!skipRotation) await this.rotation.demand(tx, name, (await staticRoles.get(name))!);
    });
    return skipRotation ? undefined : this.#firstOwnRotation(name, signal);
  }

  /** What cannot be done as it was asked for leaves no role. Whatever else fails leaves one whose password is known, and is tried again. */
  async #firstOwnRotation(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.rotation.rotate(name, signal);
    } catch (error) {
      if (error instanceof BadRequest || error instanceof InvalidRequest) await this.remove(name);
      if (!(error instanceof DirectoryFailed)) throw error;
      const stored = `the role is stored with the password that was sent; ${retriedAfter(error.message)}`;
      throw new DirectoryFailed(stored, error.outcome, error);
    }
  }

  /** @throws BadRequest where no login proves that the account of the role has this password */
  async requireOwnPassword(role: StaticRoleRecord, password: string, signal: AbortSignal): Promise<void> {
    const proof = await proveOwnPassword(this.#service, role, { candidate: password, current: undefined }, signal);
    requireProven(proof, { system: 'the directory', noun: 'account', name: role.dn || role.username });
  }

  async #apply({ record, candidate, signal }: StaticChange): Promise<PasswordPlace | undefined> {
    const config = await this.#service.require();
    if (!config.self_managed) return changePassword(this.#service, record, candidate, signal);
    const { current } = record;
    // Says first what else is missing.
    loginNameOf(config, record);
    if (current === undefined) throw new DirectoryMisused('password: it is not known, and this mount is self_managed; send it to the role');
    await changeOwnPassword(this.#service, record, { candidate, current }, signal);
    return undefined;
  }

  async #prove({ record, candidate, signal }: StaticChange, found: PasswordPlace | undefined): Promise<Proof> {
    const passwords = { candidate, current: record.current };
    const { self_managed: isSelfManaged } = await this.#service.require();
    return isSelfManaged
      ? proveOwnPassword(this.#service, record, passwords, signal)
      : provePassword(this.#service, record, passwords, signal, found);
  }

  /** In the registry; undefined while it is not known. */
  async #identify(role: StaticRoleRecord, signal: AbortSignal): Promise<ManagedAccount | undefined> {
    if (!(await this.#service.read())?.self_managed) return identify(this.#service, role, signal);
    return role.current === undefined ? undefined : identifyOwn(this.#service, role, role.current, signal);
  }

  async #requireProof(role: StaticRoleRecord, password: string, signal: AbortSignal): Promise<void> {
    const proof = await provePassword(this.#service, role, { candidate: password, current: undefined }, signal);
    requireProven(proof, { system: 'the directory', noun: 'account', name: role.dn || role.username });
  }

  /** Takes the account of a role back from whoever has taken it over, and rotates its password, which that one knows. */
  async takeBack(name: string, signal: AbortSignal): Promise<string | undefined> {
    const { staticRoles } = recordsIn(this.#host.storage);
    const seen = await staticRoles.get(name);
    const account = seen && (seen.managed_account ?? (await this.#identify(seen, signal)));
    const isBack = await this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx).staticRoles;
      const role = await inside.get(name);
      if (!role || !account) return false;
      await claim(tx, role.username, role.claims, { kind: 'static-role', owner: name }, { adopt: true });
      if (!role.managed_account) await inside.put(name, { ...role, managed_account: account });
      return this.rotation.takeBack(tx, name);
    });
    return isBack ? this.rotation.rotate(name, signal) : undefined;
  }

  /** With all that the account goes by. @throws DirectoryMisused where the directory does not have it, or the mount logs in with it. */
  async #located(role: StaticRoleRecord, signal: AbortSignal): Promise<StaticRoleRecord> {
    const { dn, account } = await this.#service.work(
      async (connection, { config }) => {
        const found = await locate(connection, config, role, signal);
        await requireNotRoot(connection, config, role.username, found, signal);
        return found;
      },
      { signal, idempotent: true },
    );
    return { ...role, claims: claimsOf(role.username, [role.dn, dn]), managed_account: account };
  }

  async remove(name: string): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const role = await recordsIn(tx).staticRoles.get(name);
      if (!role) return;
      await this.rotation.remove(tx, name);
      await release(tx, role.claims, { kind: 'static-role', owner: name });
    });
  }
}

/** The role with a password that a login has proven, in the place of those that are stored. */
export function withOwnPassword(role: StaticRoleRecord, password: string): StaticRoleRecord {
  const { pending: _open, shelved: _apart, last_error: _past, login: _found, ...rest } = role;
  return { ...rest, current: password };
}
