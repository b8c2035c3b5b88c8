import { ancestorsOf, directGroups, type Entity, type Group, type IdentityRecords } from './identity-records.ts';

/** What an entity adds to each request of its tokens. */
export interface IdentityPolicies {
  /** Its tokens are refused. */
  readonly disabled: boolean;
  /** Of the entity and of every group it is in, sorted, each once. The same array until something changes. */
  readonly policies: readonly string[];
}

/** What policy templates may name. The same object until something changes. */
export interface TemplateContext {
  readonly entity: {
    readonly id: string;
    readonly name: string;
    readonly metadata: Readonly<Record<string, string>>;
    /** By mount accessor. */
    readonly aliases: Readonly<
      Record<
        string,
        {
          readonly id: string;
          readonly name: string;
          readonly metadata: Readonly<Record<string, string>>;
          readonly custom_metadata: Readonly<Record<string, string>>;
        }
      >
    >;
  };
  readonly groups: readonly { readonly id: string; readonly name: string; readonly metadata: Readonly<Record<string, string>> }[];
}

interface Known {
  readonly policies: IdentityPolicies;
  readonly context: TemplateContext;
}

/**
 * The derived facts of the entities in use, the least recently used dropped first. An answer whose records changed while they
 * were being read is given to those who waited and not kept.
 */
export class IdentityCache {
  readonly #records: IdentityRecords;
  readonly #limit: number;
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<Known | undefined>>();
  readonly #merged = new Map<string, string>();

  constructor(records: IdentityRecords, limit = 10_000) {
    this.#records = records;
    this.#limit = limit;
  }

  async get(entityId: string): Promise<Known | undefined> {
    return this.#recent(entityId) ?? this.#reading.get(entityId) ?? this.#read(entityId);
  }

  /** `entity/…`, `merged-entity/…` or `group/…`. Groups change rarely and reach far, so one of them drops everything. */
  invalidate(key: string): void {
    const slash = key.indexOf('/');
    const [kind, id] = [key.slice(0, slash), key.slice(slash + 1)];
    if (kind === 'entity') {
      this.#known.delete(id);
      this.#reading.delete(id);
    } else if (kind === 'merged-entity') {
      this.#merged.delete(id);
      this.#reading.delete(id);
    } else if (kind === 'group') {
      this.#known.clear();
      this.#reading.clear();
    }
  }

  /** It is unknown which records changed. */
  invalidateAll(): void {
    this.#known.clear();
    this.#merged.clear();
    this.#reading.clear();
  }

  #recent(id: string): Known | undefined {
    const at = this.#known.has(id) ? id : this.#merged.get(id);
    const known = at === undefined ? undefined : this.#known.get(at);
    if (known && this.#known.size > this.#limit / 2) {
      this.#known.delete(at!);
      this.#known.set(at!, known);
    }
    return known;
  }

  #read(id: string): Promise<Known | undefined> {
    const reading = this.#load(id).then(
      (known) => {
        if (this.#reading.get(id) === reading) {
          this.#reading.delete(id);
          if (known) this.#keep(id, known);
        }
        return known;
      },
      (error: unknown) => {
        if (this.#reading.get(id) === reading) this.#reading.delete(id);
        throw error;
      },
    );
    this.#reading.set(id, reading);
    return reading;
  }

  #keep(id: string, known: Known): void {
    const owner = known.context.entity.id;
    // The facts are kept under the owner's own id, where its changes find them.
    if (owner !== id) {
      if (this.#merged.size >= this.#limit) this.#merged.clear();
      this.#merged.set(id, owner);
      return;
    }
    this.#known.set(id, known);
    if (this.#known.size > this.#limit) this.#known.delete(this.#known.keys().next().value!);
  }

  async #load(id: string): Promise<Known | undefined> {
    const entity = await this.#records.entities.get(id);
    if (entity) return this.#derive(id, entity);
    const owner = (await this.#records.merged.get(id))?.owner_id;
    return owner === undefined ? undefined : this.get(owner);
  }

  async #derive(id: string, entity: Entity): Promise<Known> {
    const direct = await directGroups(this.#records, entity);
    const groups = new Map([...direct, ...(await ancestorsOf(this.#records, direct))]);
    const names = new Set(entity.policies);
    for (const group of groups.values()) for (const name of group.policies) names.add(name);
    return {
      policies: Object.freeze({ disabled: entity.disabled, policies: Object.freeze([...names].sort()) }),
      context: templateContext(id, entity, groups),
    };
  }
}

function templateContext(id: string, entity: Entity, groups: ReadonlyMap<string, Group>): TemplateContext {
  const aliases = entity.aliases.map((alias) => {
    const { name, metadata, custom_metadata } = alias;
    return [alias.mount_accessor, { id: alias.id, name, metadata, custom_metadata }] as const;
  });
  return {
    entity: { id, name: entity.name, metadata: entity.metadata, aliases: Object.fromEntries(aliases) },
    groups: [...groups].map(([groupId, group]) => ({ id: groupId, name: group.name, metadata: group.metadata })),
  };
}
