import {
  BadRequest,
  foldName,
  holderSource,
  pageOfHolders,
  type HolderPage,
  type ListQuery,
  type Clock,
  type Log,
  type LoginAlias,
  type StorageView,
} from '@strongroom/engine-sdk';
import { Entities } from './entities.ts';
import { addAlias, EntityAliases, newAlias } from './entity-aliases.ts';
import { GroupAliases } from './group-aliases.ts';
import { Groups } from './groups.ts';
import { IdentityCache, type IdentityPolicies, type TemplateContext } from './identity-cache.ts';
import { identityContext, samePairs, type IdentityChange, type IdentityContext, type IdentityMounts } from './identity-change.ts';
import {
  aliasKey,
  ancestorsOf,
  exactNameKey,
  findAlias,
  hasOneVariant,
  type AliasName,
  type Entity,
  type EntityAlias,
  type IdentityRecords,
} from './identity-records.ts';
import { memberships, storeMemberships, type Memberships } from './login-memberships.ts';

export interface IdentityStoreParts {
  /** The room's own part of the store. */
  readonly storage: StorageView;
  readonly clock: Clock;
  readonly randomUuid?: () => string;
  readonly mounts: IdentityMounts;
  readonly log: Log;
  /** Entities whose policies are kept in memory; default 10,000. */
  readonly cachedEntities?: number;
}

export interface LoginIdentity {
  readonly mountAccessor: string;
  readonly alias: LoginAlias;
  /** Names of outside groups; [] is "in none". Left out where the method knows no groups: memberships stay. */
  readonly groupAliases?: readonly string[];
}

const nothing: Readonly<Record<string, string>> = {};
const CHUNK = 64;

/** Who callers are, whatever login method they come by, and what that adds to their policies. */
export class IdentityStore {
  readonly entities: Entities;
  readonly entityAliases: EntityAliases;
  readonly groups: Groups;
  readonly groupAliases: GroupAliases;
  readonly mounts: IdentityMounts;
  readonly #context: IdentityContext;
  readonly #cache: IdentityCache;
  readonly #log: Log;
  readonly #written = new Set<string>();

  constructor(parts: IdentityStoreParts) {
    const written = (keys: ReadonlySet<string>): void => keys.forEach((key) => this.#cache.invalidate(key));
    const { storage, clock, mounts } = parts;
    this.#context = identityContext({ storage, clock, mounts, written, ...(parts.randomUuid ? { randomUuid: parts.randomUuid } : {}) });
    this.#cache = new IdentityCache(this.#context.records, parts.cachedEntities);
    this.#log = parts.log;
    this.mounts = mounts;
    this.entities = new Entities(this.#context);
    this.entityAliases = new EntityAliases(this.#context);
    this.groups = new Groups(this.#context);
    this.groupAliases = new GroupAliases(this.#context, this.groups);
  }

  /**
   * The entity of a successful login, made with its alias when the name is new to the mount; concurrent first logins get the same one.
   * Writes nothing when metadata and groups are as they were. Does not look at `disabled`.
   * @throws BadRequest for a name that no alias may have
   */
  async resolveLogin(login: LoginIdentity): Promise<{ entityId: string; created: boolean }> {
    if (login.alias.name === '') throw new BadRequest('missing name in alias');
    if (login.alias.anyVariant) await this.#knowVariants(login.mountAccessor);
    const known = await this.#currentState(this.#context.records, login);
    if (known && !known.metadataChanged && !known.groupsChanged) return { entityId: known.entityId, created: false };
    const result = await this.#context.change(async (change) => this.#login(change, login));
    if (result.created)
      this.#log.info('entity created at first login', { entity_id: result.entityId, mount_accessor: login.mountAccessor });
    return result;
  }

  /** At a token's renewal: the groups as the directory has them now. An entity that is gone is left so. */
  async refreshGroups(renewal: { entityId: string; mountAccessor: string; groupAliases: readonly string[] }): Promise<void> {
    const { records } = this.#context;
    const id = (await records.merged.get(renewal.entityId))?.owner_id ?? renewal.entityId;
    const entity = await records.entities.get(id);
    if (!entity) return;
    const groups = await this.#memberships(records, entity, renewal);
    if (!changes(groups)) return;
    await this.#context.change(async (change) => {
      const current = await change.records.entities.get(id);
      if (!current) return;
      const fresh = await this.#memberships(change.records, current, renewal);
      if (!changes(fresh)) return;
      await storeMemberships(change.records, id, fresh);
      await change.putEntity(id, { ...current, external_groups: fresh.external });
    });
  }

  /** undefined: the entity is gone. Also answers for the id of an entity that was merged into another. */
  async policiesOf(entityId: string): Promise<IdentityPolicies | undefined> {
    return (await this.#cache.get(entityId))?.policies;
  }

  /** The id under which the entity goes on: another one after a merge. Undefined: it is gone. */
  async currentId(entityId: string): Promise<string | undefined> {
    const { records } = this.#context;
    const id = (await records.merged.get(entityId))?.owner_id ?? entityId;
    return (await records.entities.has(id)) ? id : undefined;
  }

  async templateContext(entityId: string): Promise<TemplateContext | undefined> {
    return (await this.#cache.get(entityId))?.context;
  }

  /** Entities with all that they have by themselves and by their groups, and groups with what their members have by them. */
  async policyHolders(query: Required<Pick<ListQuery, 'limit'>> & Pick<ListQuery, 'after'>): Promise<HolderPage> {
    const { records } = this.#context;
    return pageOfHolders(
      [
        holderSource('entity/id', 'entity', records.entities, async ({ name }, id) => ({
          name,
          policies: (await this.policiesOf(id))?.policies ?? [],
          withDefault: false,
        })),
        holderSource('group/id', 'group', records.groups, async (group, id) => {
          const above = await ancestorsOf(records, new Map([[id, group]]));
          const policies = [group, ...above.values()].flatMap((one) => one.policies);
          return { name: group.name, policies: [...new Set(policies)].sort(), withDefault: false };
        }),
      ],
      query,
    );
  }

  /** The aliases of entities and groups on a mount that is gone, with the memberships they gave. The entities stay. */
  async aliasesOfMountRemoved(mountAccessor: string): Promise<void> {
    await this.groupAliases.removeOfMount(mountAccessor);
    while (await this.entityAliases.removeSomeOfMount(mountAccessor, CHUNK));
  }

  /** Another process changed this record (`collection/id`, below the room's own prefix). */
  invalidate(key: string): void {
    this.#cache.invalidate(key);
  }

  /** Once for a mount in its life: aliases that an earlier version stored are found in all variants, too. May be repeated. */
  async #knowVariants(mountAccessor: string): Promise<void> {
    if (this.#written.has(mountAccessor)) return;
    if (!(await this.#context.records.indexedMounts.has(mountAccessor))) {
      let after: string | undefined;
      do after = await this.entityAliases.noteVariantsOfMount(mountAccessor, after, CHUNK);
      while (after !== undefined);
    }
    this.#written.add(mountAccessor);
  }

  /** It is unknown which records changed. */
  invalidateAll(): void {
    this.#cache.invalidateAll();
  }

  async #login(change: IdentityChange, login: LoginIdentity): Promise<{ entityId: string; created: boolean }> {
    const known = await this.#currentState(change.records, login);
    if (known && !known.metadataChanged && !known.groupsChanged) return { entityId: known.entityId, created: false };
    const metadata = { ...login.alias.metadata };
    if (known) {
      if (known.groups) await storeMemberships(change.records, known.entityId, known.groups);
      await change.putEntity(known.entityId, {
        ...known.entity,
        external_groups: known.groups?.external ?? known.entity.external_groups,
        aliases: known.entity.aliases.map((alias) =>
          alias.id === known.aliasId && known.metadataChanged ? { ...alias, metadata, last_update_time: change.now } : alias,
        ),
      });
      return { entityId: known.entityId, created: false };
    }
    const entityId = this.#context.newId();
    const name = this.#context.aliasName(login.mountAccessor, login.alias.name);
    const alias = newAlias(this.#context.newId(), name, change.now, { metadata });
    const entity = await addAlias(change, this.#context, entityId, undefined, alias);
    const { groupAliases } = login;
    if (groupAliases) {
      const groups = await this.#memberships(change.records, entity, { ...login, groupAliases });
      await storeMemberships(change.records, entityId, groups);
      await change.putEntity(entityId, { ...entity, external_groups: groups.external });
    }
    return { entityId, created: true };
  }

  async #memberships(
    records: IdentityRecords,
    entity: Entity,
    { mountAccessor, groupAliases }: { readonly mountAccessor: string; readonly groupAliases: readonly string[] },
  ): Promise<Memberships> {
    const names = groupAliases.map((name) => this.#context.aliasName(mountAccessor, name));
    return memberships(records, entity, mountAccessor, names);
  }

  async #currentState(records: IdentityRecords, login: LoginIdentity): Promise<LoginState | undefined> {
    const names = [login.alias.name, ...(login.alias.others ?? [])].map((name) => this.#context.aliasName(login.mountAccessor, name));
    const known = await knownAs(records, names, login.alias.anyVariant === true);
    // A person who is known by several names is disabled with any of them.
    const chosen = known.find(({ entity }) => entity.disabled) ?? known[0];
    if (!chosen) return undefined;
    const { entityId, entity, alias } = chosen;
    const { groupAliases } = login;
    const groups = groupAliases && (await this.#memberships(records, entity, { ...login, groupAliases }));
    return {
      entityId,
      entity,
      aliasId: alias.id,
      metadataChanged: !samePairs(alias.metadata, login.alias.metadata ?? nothing),
      ...(groups ? { groups } : {}),
      groupsChanged: groups !== undefined && changes(groups),
    };
  }
}

interface LoginState {
  readonly entityId: string;
  readonly entity: Entity;
  readonly aliasId: string;
  readonly metadataChanged: boolean;
  readonly groups?: Memberships;
  readonly groupsChanged: boolean;
}

interface KnownAlias {
  readonly entityId: string;
  readonly entity: Entity;
  readonly alias: EntityAlias;
}

/** The aliases that the login may mean: of its name before its other names, of the very variant before other ones. */
async function knownAs(records: IdentityRecords, names: readonly AliasName[], anyVariant: boolean): Promise<KnownAlias[]> {
  const hits = await Promise.all(
    names.flatMap((name) => {
      const exact = findAlias(records, name);
      if (!anyVariant || name.exact) return [exact];
      const folded = hasOneVariant(name.name) ? undefined : records.aliasKeys.get(aliasKey({ ...name, name: foldName(name.name) }));
      return [exact, folded, records.aliasVariants.get(exactNameKey(name.mount_accessor, name.name)).then((found) => found?.aliases)];
    }),
  );
  const known = new Map<string, KnownAlias>();
  for (const index of hits.flat()) {
    if (!index || known.has(index.alias_id)) continue;
    const entity = await records.entities.get(index.owner_id);
    const alias = entity?.aliases.find((one) => one.id === index.alias_id);
    if (entity && alias) known.set(alias.id, { entityId: index.owner_id, entity, alias });
  }
  return [...known.values()];
}

function changes(groups: Memberships): boolean {
  return groups.joined.length > 0 || groups.left.length > 0;
}
