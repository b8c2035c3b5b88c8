import { BadRequest, TooManyRequests, type EngineHost } from '@strongroom/engine-sdk';
import { ownState, Rotation, type Change } from '@strongroom/rotation';
import { changePassword, locate, provePassword } from './account-entry.ts';
import { outcomeOf, textOf } from './directory-failed.ts';
import { claim, claimsOf, release } from './managed-accounts.ts';
import { makePassword } from './password-maker.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import type { DirectoryService } from './service.ts';

type StaticChange = Change<StaticRoleRecord, string>;

/** Accounts that the directory already has, and whose password is rotated. */
export class StaticAccounts {
  readonly rotation: Rotation<StaticRoleRecord, string>;
  readonly #host: EngineHost;
  readonly #service: DirectoryService;

  constructor(host: EngineHost, service: DirectoryService) {
    this.#host = host;
    this.#service = service;
    this.rotation = new Rotation(host, {
      kind: 'rotate-static-role',
      noun: 'static role',
      lens: ownState<StaticRoleRecord, string>(),
      records: (storage) => recordsIn(storage).staticRoles,
      plan: (role) => role,
      target: () => `the directory of ${host.mount.accessor}`,
      make: async () => makePassword(host, await service.require()),
      apply: async ({ record, candidate, signal }) => changePassword(service, record, candidate, signal),
      outcomeOf,
      messageOf: textOf,
      prove: async ({ record, candidate, signal }: StaticChange) =>
        provePassword(service, record, { candidate, current: record.current }, signal),
      keepsPrevious: true,
      subject: ({ dn, username }) => dn || username,
      missing: (name) => new BadRequest(`role doesn't exist: ${name}`),
    });
  }

  /** Stores a new role and rotates its password, which nobody else knows then. What the directory refuses is not stored. */
  async create(name: string, role: StaticRoleRecord, signal: AbortSignal): Promise<void> {
    const record = await this.#located(role, signal);
    const by = { kind: 'static-role', owner: name } as const;
    try {
      await this.rotation.create(name, record, signal, { check: async (tx) => claim(tx, role.username, record.claims, by) });
    } catch (error) {
      await this.#host.storage.transaction(async (tx) => {
        if (!(await recordsIn(tx).staticRoles.has(name))) await release(tx, record.claims, by);
      });
      throw error;
    }
  }

  /** Stores a new role whose password stays as it is until its plan brings the first rotation. */
  async adopt(name: string, role: StaticRoleRecord, signal: AbortSignal): Promise<void> {
    const record = await this.#located(role, signal);
    await this.#host.storage.transaction(async (tx) => {
      const before = await recordsIn(tx).staticRoles.get(name);
      if (before) throw taken(name, before, this.#host.clock.millis());
      await claim(tx, role.username, record.claims, { kind: 'static-role', owner: name });
      await this.rotation.adopt(tx, name, record);
    });
  }

  /** With all that the account goes by. @throws DirectoryMisused where the directory does not have it. */
  async #located(role: StaticRoleRecord, signal: AbortSignal): Promise<StaticRoleRecord> {
    const dn = await this.#service.work(async (connection, { config }) => locate(connection, config, role, signal), {
      signal,
      idempotent: true,
    });
    return { ...role, claims: claimsOf(role.username, [role.dn, dn]) };
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

/** Another request was faster, or a creation of before stands whose new password may be in force. */
function taken(name: string, { current, pending }: StaticRoleRecord, now: number): Error {
  if (current !== undefined || pending === undefined || pending.until > now) {
    return new TooManyRequests(`the static role ${name} is being written by another request`, { headers: { 'Retry-After': '1' } });
  }
  return new BadRequest(
    `skip_import_rotation: the role ${name} is there already, and its password may have been changed; ` +
      'that is retried in the background, or write it without skip_import_rotation',
  );
}
