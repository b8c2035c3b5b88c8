import { BadRequest, type Collection, type EngineHost, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Digests } from './digests.ts';
import { mergeRole, Role, type RoleChange } from './role.ts';
import { endedRole } from './schedules.ts';
import { uuidOf } from './uuid.ts';

type View = Pick<StorageView, 'collection'>;

/** By the digest of the role id. */
const RoleName = Type.Object({ name: Type.String() });
/** No role has this name. */
const NOBODY = '-';

export interface NamedRole {
  readonly name: string;
  readonly role: Role;
}

/** The roles of a mount: `role/<name>` the record, and `role-id/<digest of the role id>` the way to it. */
export class Roles {
  readonly #host: Pick<EngineHost, 'storage' | 'clock' | 'randomBytes' | 'limit'>;
  readonly #digests: Digests;

  constructor(host: Pick<EngineHost, 'storage' | 'clock' | 'randomBytes' | 'limit'>, digests: Digests) {
    this.#host = host;
    this.#digests = digests;
  }

  /** Reads as often for an unknown role id as for a known one. */
  async byRoleId(roleId: string): Promise<NamedRole | undefined> {
    const { storage } = this.#host;
    const name = (await roleNames(storage).get(this.#digests.ofRoleId(roleId)))?.name;
    const role = await this.records(storage).get(name ?? NOBODY);
    return name !== undefined && role?.role_id === roleId ? { name, role } : undefined;
  }

  /** Whether the role is neither deleted, nor another one of the same name. With a role id, whether it still has that. */
  async isSame(tx: Transaction, name: string, { key, role_id }: { readonly key: string; readonly role_id?: string }): Promise<boolean> {
    const present = await this.records(tx).get(name);
    return present?.key === key && (role_id === undefined || present.role_id === role_id);
  }

  /**
   * What a write makes of the role, whose record the caller stores in the same transaction.
   * @throws BadRequest
   */
  async merged(tx: Transaction, name: string, stored: Role | undefined, change: RoleChange): Promise<Role> {
    const fresh = { key: this.#random(), role_id: this.#random() };
    const role = mergeRole(stored, fresh, change, this.#host.limit({ ttl: 0, maxTtl: 0 }).maxTtl);
    if (role.role_id === stored?.role_id) return role;
    const digest = this.#digests.ofRoleId(role.role_id);
    if (await roleNames(tx).has(digest)) throw new BadRequest('role_id already in use');
    if (stored) await roleNames(tx).delete(this.#digests.ofRoleId(stored.role_id));
    await roleNames(tx).put(digest, { name });
    return role;
  }

  /** Changes an existing role; false if there is none. @throws BadRequest */
  async change(name: string, change: RoleChange, check: (role: Role) => void = () => {}): Promise<boolean> {
    return this.#host.storage.transaction(async (tx) => {
      const stored = await this.records(tx).get(name);
      if (!stored) return false;
      check(stored);
      await this.records(tx).put(name, await this.merged(tx, name, stored, change));
      return true;
    });
  }

  /** In the transaction that deletes the record. The secret ids are of no use from here on; a job removes what is stored of them. */
  async ended(tx: Transaction, role: Role): Promise<void> {
    await roleNames(tx).delete(this.#digests.ofRoleId(role.role_id));
    await tx.schedule(endedRole, role.key, this.#host.clock.now(), { role: role.key });
  }

  records(view: View): Collection<Role> {
    return view.collection('role/', Role);
  }

  #random(): string {
    return uuidOf(this.#host.randomBytes(16));
  }
}

function roleNames(view: View): Collection<{ name: string }> {
  return view.collection('role-id/', RoleName);
}
