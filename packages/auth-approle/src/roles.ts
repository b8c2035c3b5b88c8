import { InvalidRequest, type Collection, type EngineHost, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Digests } from './digests.ts';
import { mergeRole, Role, type RoleData } from './role.ts';
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

  /** The records, to list and to look at. Writes go through `write`. */
  get records(): Collection<Role> {
    return records(this.#host.storage);
  }

  /** Reads as often for an unknown role id as for a known one. */
  async byRoleId(roleId: string): Promise<NamedRole | undefined> {
    const { storage } = this.#host;
    const name = (await roleNames(storage).get(this.#digests.ofRoleId(roleId)))?.name;
    const role = await records(storage).get(name ?? NOBODY);
    return name !== undefined && role?.role_id === roleId ? { name, role } : undefined;
  }

  async within(tx: Transaction, name: string): Promise<Role | undefined> {
    return records(tx).get(name);
  }

  /**
   * Creates a role, or changes what is supplied of it. With `mustExist` nothing is created; false then says that there is no such role.
   * @throws BadRequest
   */
  async write(name: string, data: RoleData, supplied: ReadonlySet<string>, { mustExist = false } = {}): Promise<boolean> {
    const fresh = { key: this.#random(), role_id: this.#random() };
    return this.#host.storage.transaction(async (tx) => {
      const before = await records(tx).get(name);
      if (!before && mustExist) return false;
      const role = mergeRole(before, fresh, data, supplied, this.#host.limit({ ttl: 0, maxTtl: 0 }).maxTtl);
      if (role.role_id !== before?.role_id) await this.#rename(tx, name, before?.role_id, role.role_id);
      await records(tx).put(name, role);
      return true;
    });
  }

  /** The role and its secret ids are of no use from here on; a job removes what is stored of them. */
  async delete(name: string): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const role = await records(tx).get(name);
      if (!role) return;
      await records(tx).delete(name);
      await roleNames(tx).delete(this.#digests.ofRoleId(role.role_id));
      await tx.schedule(endedRole, role.key, this.#host.clock.now(), { role: role.key });
    });
  }

  async #rename(tx: Transaction, name: string, before: string | undefined, roleId: string): Promise<void> {
    const digest = this.#digests.ofRoleId(roleId);
    if (await roleNames(tx).has(digest)) throw new InvalidRequest('role_id already in use');
    if (before !== undefined) await roleNames(tx).delete(this.#digests.ofRoleId(before));
    await roleNames(tx).put(digest, { name });
  }

  #random(): string {
    return uuidOf(this.#host.randomBytes(16));
  }
}

function records(view: View): Collection<Role> {
  return view.collection('role/', Role);
}

function roleNames(view: View): Collection<{ name: string }> {
  return view.collection('role-id/', RoleName);
}
