import { BadRequest } from '@strongroom/engine-sdk';
import { pageOf } from '../../kernel/storage/page-of.ts';
import { checkMetadata, policyNames, type IdentityContext } from './identity-change.ts';
import { mergeEntities, type MergeOrder } from './entity-merge.ts';
import { ancestorsOf, byName, directGroups, findAlias, folded, type Entity, type Group, type IdentityPage } from './identity-records.ts';
import type { MfaSecret } from './mfa-secrets.ts';

export interface EntityFields {
  readonly name?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly disabled?: boolean | undefined;
}

/** An entity with the groups it is in, by itself and through other groups. */
export interface EntityView {
  readonly id: string;
  readonly entity: Entity;
  readonly direct: ReadonlyMap<string, Group>;
  readonly inherited: ReadonlyMap<string, Group>;
  readonly mfaSecrets: readonly MfaSecret[];
}

/** How many entities one transaction removes. */
const CHUNK = 64;

/** People and machines, each known to any number of login methods. */
export class Entities {
  readonly #context: IdentityContext;

  constructor(context: IdentityContext) {
    this.#context = context;
  }

  async view(id: string): Promise<EntityView | undefined> {
    const { records } = this.#context;
    const entity = await records.entities.get(id);
    if (!entity) return undefined;
    const direct = await directGroups(records, entity);
    const mfaSecrets = (await records.mfaSecrets.get(id))?.secrets ?? [];
    return { id, entity, direct, inherited: await ancestorsOf(records, direct), mfaSecrets };
  }

  async idOfName(name: string): Promise<string | undefined> {
    return (await this.#context.records.entityNames.get(folded(name)))?.id;
  }

  async idOfAlias(aliasId: string): Promise<string | undefined> {
    return (await this.#context.records.aliasOwners.get(aliasId))?.owner_id;
  }

  async idOfLogin(mountAccessor: string, aliasName: string): Promise<string | undefined> {
    return (await findAlias(this.#context.records, this.#context.aliasName(mountAccessor, aliasName)))?.owner_id;
  }

  /** By id. */
  async list(page: IdentityPage): Promise<[id: string, entity: Entity][]> {
    return pageOf(this.#context.records.entities, page, (id, entity) => [id, entity]);
  }

  /** In the order of the names in lower case; `after` is a name in any case. */
  async names(page: IdentityPage): Promise<string[]> {
    return pageOf(this.#context.records.entityNames, byName(page), (_, { name }) => name);
  }

  /**
   * Creates, or changes what is supplied. The id, where given, must exist, unless the entity is imported with it; without one the name says which.
   * @throws BadRequest
   */
  async save(
    id: string | undefined,
    fields: EntityFields,
    { imported = false } = {},
  ): Promise<{ id: string; name: string; created: boolean }> {
    const policies = fields.policies && policyNames(fields.policies);
    if (fields.metadata) checkMetadata(fields.metadata, 'metadata');
    return this.#context.change(async (change) => {
      const { records } = change;
      const known = id ?? (fields.name === undefined ? undefined : (await records.entityNames.get(folded(fields.name)))?.id);
      const stored = known === undefined ? undefined : await records.entities.get(known);
      if (id !== undefined && !stored) {
        if (!imported) throw new BadRequest('entity not found from id');
        if (await records.merged.has(id)) throw new BadRequest('the entity of this id was merged into another one');
      }
      const saved = known ?? this.#context.newId();
      const before = stored ?? newEntity(change.now);
      const name = fields.name ?? (stored ? before.name : await change.freeName(records.entityNames, 'entity', this.#context.newId));
      if (!stored || name !== before.name) await change.nameEntity(saved, name, stored?.name);
      await change.putEntity(saved, {
        ...before,
        name,
        policies: policies ?? before.policies,
        metadata: fields.metadata ?? before.metadata,
        disabled: fields.disabled ?? before.disabled,
      });
      return { id: saved, name, created: !stored };
    });
  }

  /** Unknown ids are no error. */
  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const chunk = new Set(ids.slice(at, at + CHUNK));
      await this.#context.change(async (change) => {
        for (const id of chunk) {
          const entity = await change.records.entities.get(id);
          if (entity) await change.deleteEntity(id, entity);
        }
      });
    }
  }

  /**
   * The entities of `from` end; their aliases, memberships and MFA secrets go to `to`, and tokens of theirs count as its own.
   * Policies of theirs do not.
   * @throws BadRequest
   */
  async merge(order: MergeOrder): Promise<void> {
    await this.#context.change(async (change) => mergeEntities(change, order, this.#context.mounts));
  }
}

export function newEntity(now: string): Entity {
  return {
    name: '',
    policies: [],
    metadata: {},
    disabled: false,
    merged_entity_ids: [],
    aliases: [],
    group_ids: [],
    external_groups: {},
    creation_time: now,
    last_update_time: now,
  };
}
