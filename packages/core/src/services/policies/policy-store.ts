import { BadRequest, InternalError, NotFound, type Clock, type Collection, type ListQuery, type StorageView } from '@strongroom/engine-sdk';
import { pageOf } from '../../kernel/storage/page-of.ts';
import { Acl } from './acl.ts';
import { AclCache } from './acl-cache.ts';
import { DEFAULT_POLICY, isFormerDefault, RESERVED_NAMES, VIRTUAL_POLICIES } from './builtin-policies.ts';
import { parsePolicy, type Policy } from './policy.ts';
import { PolicyRecord } from './policy-record.ts';
import type { TemplateContext, TemplateRules } from './template.ts';

export interface PolicyStoreOptions {
  readonly storage: StorageView;
  readonly clock: Clock;
  /** Most compiled sets that are kept. */
  readonly cachedSets?: number;
  /** Hears of a policy that this process has written or deleted. Must not throw. */
  readonly changed?: (name: string, change: 'written' | 'deleted', request: string | undefined) => void;
}

/** A write. What is left out takes its default; in a patch it stays as it is. */
export interface PolicyWrite {
  /** HCL, JSON, or base64 of either. */
  readonly policy?: string | undefined;
  /** The version that is replaced; -1: there must be none. */
  readonly cas?: number | undefined;
  readonly casRequired?: boolean | undefined;
  /** Seconds from now. */
  readonly ttl?: number | undefined;
  readonly expiration?: Date | undefined;
  readonly allowWildcards?: boolean | undefined;
  readonly allowSlashes?: boolean | undefined;
}

/** Who the paths of a policy are filled in for. */
export interface TemplateIdentity {
  /** The id of the entity. */
  readonly key: string;
  /** Must be cheap, and give the same object until something in it changes: asked at each use of a set that depends on the caller. */
  load(): Promise<TemplateContext | undefined>;
}

interface LoadedPolicy {
  readonly policy: Policy;
  /** Milliseconds since the epoch; infinite without one. */
  readonly expiresAt: number;
}

const prefix = 'acl/';
const separator = '\0';

/** The policies, and what any set of them allows. Names are lower-case. */
export class PolicyStore {
  readonly #storage: StorageView;
  readonly #records: Collection<PolicyRecord>;
  readonly #clock: Clock;
  readonly #loaded = new Map<string, LoadedPolicy>();
  readonly #sets: AclCache;
  /** Sets of names with some policy that depends on the caller. */
  readonly #templated = new Set<string>();
  readonly #capacity: number;
  readonly #heard: NonNullable<PolicyStoreOptions['changed']>;
  /** Rises with every change, so that what was read before one is not kept after it. */
  #generation = 0;

  constructor({ storage, clock, cachedSets = 4096, changed = () => undefined }: PolicyStoreOptions) {
    this.#heard = changed;
    this.#storage = storage;
    this.#records = recordsOf(storage);
    this.#clock = clock;
    this.#capacity = cachedSets;
    this.#sets = new AclCache(cachedSets);
  }

  /** Writes the `default` policy into a store that has none, and replaces one that is as an earlier version wrote it. What an operator has edited stays. */
  async initialize(): Promise<void> {
    if (!(await this.#records.has('default'))) return void (await this.put('default', { policy: DEFAULT_POLICY }));
    const current = parsePolicy('default', DEFAULT_POLICY);
    await this.#storage.transaction(async (tx) => {
      const record = await recordsOf(tx).get('default');
      if (!record || !isFormerDefault(record.policy)) return;
      const { text: policy } = current;
      await recordsOf(tx).put('default', { ...record, policy, version: record.version + 1, modified: this.#clock.now().toISOString() });
    });
    this.#changed('default');
  }

  /** Undefined for what does not exist or has expired. `root` has an empty text. */
  async get(name: string): Promise<PolicyRecord | undefined> {
    const id = name.toLowerCase();
    const virtual = VIRTUAL_POLICIES.get(id);
    if (virtual !== undefined) return virtualRecord(virtual);
    const record = await this.#records.get(id);
    return record && !this.#expired(record) ? record : undefined;
  }

  /** Names in order; `root` is not among them, nor what the core keeps to itself. */
  async list(): Promise<string[]> {
    return (await this.entries()).map(([name]) => name);
  }

  /** A page of the policies below a folder, which is '' or ends in a slash, by their names below it. */
  async page(folder: string, { after, ...query }: Pick<ListQuery, 'after' | 'limit'>): Promise<[name: string, record: PolicyRecord][]> {
    const bounds = { ...query, prefix: folder, ...(after === undefined ? {} : { after: folder + after }) };
    return pageOf(this.#records, bounds, (name, record) =>
      this.#expired(record) || name === folder ? undefined : [name.slice(folder.length), record],
    );
  }

  async entries(): Promise<[name: string, record: PolicyRecord][]> {
    return (await this.#records.entries()).filter(([, record]) => !this.#expired(record));
  }

  /** Whether a token with this policy has anything of it. */
  async policyExists(name: string): Promise<boolean> {
    return (await this.get(name)) !== undefined;
  }

  /**
   * Creates or replaces. `request`: the id of the request that asks for it, here and below. Answers the policy as read, whose notices the writer should see.
   * @throws BadRequest for a text that cannot be read, a wrong version, or a name that is not theirs to write.
   */
  async put(name: string, write: PolicyWrite, request?: string): Promise<Policy> {
    const id = this.#writable(name);
    if (write.policy === undefined || write.policy === '') throw new BadRequest(`'policy' parameter not supplied or empty`);
    const flags = { allowWildcards: write.allowWildcards ?? false, allowSlashes: write.allowSlashes ?? false };
    const policy = parsePolicy(id, write.policy, flags);
    const expiration = this.#expiration(write);
    const change = (before: PolicyRecord | undefined): PolicyRecord => {
      checkVersion(before, write);
      return this.#record(before, policy, write.casRequired ?? false, expiration);
    };
    await this.#change(id, change, request);
    return policy;
  }

  /** Changes what is given. @throws NotFound when there is no such policy, BadRequest as `put` does. */
  async patch(name: string, write: PolicyWrite, request?: string): Promise<Policy> {
    const id = this.#writable(name);
    if (write.policy === '') throw new BadRequest(`'policy' parameter not supplied or empty`);
    const expiration = this.#expiration(write);
    let changed: Policy | undefined;
    const change = (before: PolicyRecord | undefined): PolicyRecord => {
      if (!before) throw new NotFound();
      checkVersion(before, write);
      const flags = {
        allowWildcards: write.allowWildcards ?? before.allow_wildcards_in_identity_templates,
        allowSlashes: write.allowSlashes ?? before.allow_slashes_in_identity_templates,
      };
      changed = parsePolicy(id, write.policy ?? before.policy, flags);
      return this.#record(before, changed, write.casRequired ?? before.cas_required, expiration ?? before.expiration);
    };
    await this.#change(id, change, request);
    return changed as Policy;
  }

  /** Deleting what is not there succeeds. @throws BadRequest for policies that must stay. */
  async delete(name: string, request?: string): Promise<void> {
    const id = name.toLowerCase();
    if (id === 'default') throw new BadRequest('cannot delete default policy');
    if (RESERVED_NAMES.has(id)) throw new BadRequest(`cannot delete "${id}" policy`);
    await this.#records.delete(id);
    this.#changed(id);
    this.#heard(id, 'deleted', request);
  }

  /**
   * What these policies (lower-case names) allow together. Names of no policy count for nothing. Kept until one of the policies changes
   * or ends; a set that depends on the caller is kept for each caller, until `load` gives another context.
   */
  async aclFor(names: readonly string[], identity?: TemplateIdentity): Promise<Acl> {
    const base = names.join(separator);
    const known = this.#templated.has(base);
    const context = known ? await identity?.load() : undefined;
    const kept = this.#sets.get(known ? callerKey(base, identity) : base, this.#clock.millis(), context);
    return kept ?? this.#compile(names, base, identity);
  }

  /** The same where it is kept already and does not depend on the caller; undefined otherwise. */
  keptAclFor(names: readonly string[]): Acl | undefined {
    const base = names.join(separator);
    return this.#templated.has(base) ? undefined : this.#sets.get(base, this.#clock.millis(), undefined);
  }

  /** As `aclFor`, with the draft in place of the stored policy of its name, where the names have it. Nothing is kept of it. */
  async aclWithDraft(names: readonly string[], draft: Policy, identity?: TemplateIdentity): Promise<Acl> {
    const now = this.#clock.millis();
    const loaded = await Promise.all(names.filter((name) => name !== draft.name).map((name) => this.#load(name)));
    const policies = loaded.flatMap((one) => (one !== undefined && now < one.expiresAt ? [one.policy] : []));
    if (names.includes(draft.name)) policies.push(draft);
    return Acl.compile(policies, await identity?.load(), now);
  }

  /** Every policy that counts now and can be read, as parsed. */
  async all(): Promise<Policy[]> {
    const now = this.#clock.millis();
    const names = await this.list();
    const loaded = await Promise.all(names.map(async (name) => this.#load(name).catch(() => undefined)));
    return loaded.flatMap((one) => (one !== undefined && now < one.expiresAt ? [one.policy] : []));
  }

  async #compile(names: readonly string[], base: string, identity: TemplateIdentity | undefined): Promise<Acl> {
    const generation = this.#generation;
    const loaded = await Promise.all(names.map((name) => this.#load(name)));
    const now = this.#clock.millis();
    const present = loaded.filter((one) => one !== undefined && now < one.expiresAt) as LoadedPolicy[];
    const policies = present.map(({ policy }) => policy);
    const templated = policies.some((policy) => policy.templated);
    const context = templated ? await identity?.load() : undefined;
    const acl = Acl.compile(policies, context, now);
    if (generation !== this.#generation) return acl;
    if (templated) this.#markTemplated(base);
    const validUntil = Math.min(acl.validUntil, ...present.map(({ expiresAt }) => expiresAt));
    this.#sets.set(templated ? callerKey(base, identity) : base, { acl, names, validUntil, context });
    return acl;
  }

  /** Another process changed the record of this key. */
  invalidate(key: string): void {
    if (key.startsWith(prefix)) this.#changed(key.slice(prefix.length));
  }

  /** It is unknown which records changed. */
  invalidateAll(): void {
    this.#generation++;
    this.#loaded.clear();
    this.#sets.clear();
    this.#templated.clear();
  }

  /** Removes the records of policies that have expired; they count for nothing already. */
  async removeExpired(): Promise<void> {
    for (const [name, record] of await this.#records.entries()) {
      if (!this.#expired(record)) continue;
      await this.#storage.transaction(async (tx) => {
        const current = await recordsOf(tx).get(name);
        if (current && this.#expired(current)) await recordsOf(tx).delete(name);
      });
      this.#changed(name);
    }
  }

  async #load(name: string): Promise<LoadedPolicy | undefined> {
    const kept = this.#loaded.get(name);
    if (kept) return kept;
    const virtual = VIRTUAL_POLICIES.get(name);
    if (virtual !== undefined) return { policy: parsePolicy(name, virtual), expiresAt: Number.POSITIVE_INFINITY };
    const generation = this.#generation;
    const record = await this.#records.get(name);
    if (!record) return undefined;
    const flags = {
      allowWildcards: record.allow_wildcards_in_identity_templates,
      allowSlashes: record.allow_slashes_in_identity_templates,
    };
    const loaded = { policy: readStored(name, record.policy, flags), expiresAt: expiresAt(record) };
    if (generation === this.#generation) {
      if (this.#loaded.size >= this.#capacity) this.#loaded.clear();
      this.#loaded.set(name, loaded);
    }
    return loaded;
  }

  #changed(name: string): void {
    this.#generation++;
    this.#loaded.delete(name);
    this.#sets.dropPolicy(name);
    for (const base of this.#templated) if (base.split(separator).includes(name)) this.#templated.delete(base);
  }

  #markTemplated(base: string): void {
    // Forgetting a mark costs one compilation.
    if (this.#templated.size >= this.#capacity) this.#templated.clear();
    this.#templated.add(base);
  }

  #writable(name: string): string {
    const id = name.toLowerCase();
    if (RESERVED_NAMES.has(id)) throw new BadRequest(`cannot update "${id}" policy`);
    if (id.trim() !== id) {
      throw new BadRequest(
        `the policy name begins or ends with white space, which logins and tokens remove: they would get the policy "${id.trim()}"`,
      );
    }
    return id;
  }

  async #change(id: string, work: (before: PolicyRecord | undefined) => PolicyRecord, request?: string): Promise<void> {
    await this.#storage.transaction(async (tx) => {
      const records = recordsOf(tx);
      const before = await records.get(id);
      await records.put(id, work(before && !this.#expired(before) ? before : undefined));
    });
    this.#changed(id);
    this.#heard(id, 'written', request);
  }

  #record(before: PolicyRecord | undefined, policy: Policy, casRequired: boolean, expiration: string | undefined): PolicyRecord {
    return {
      policy: policy.text,
      version: (before?.version ?? 0) + 1,
      cas_required: casRequired,
      allow_wildcards_in_identity_templates: policy.templateRules.allowWildcards,
      allow_slashes_in_identity_templates: policy.templateRules.allowSlashes,
      modified: this.#clock.now().toISOString(),
      ...(expiration === undefined ? {} : { expiration }),
    };
  }

  #expiration({ ttl, expiration }: PolicyWrite): string | undefined {
    if (ttl !== undefined && ttl !== 0 && expiration) throw new BadRequest(`only one of 'ttl' and 'expiration' can be set`);
    const now = this.#clock.millis();
    if (expiration && expiration.getTime() <= now) throw new BadRequest(`'expiration' must be in the future`);
    if (expiration) return expiration.toISOString();
    if (ttl === undefined || ttl === 0) return undefined;
    const end = new Date(now + ttl * 1000);
    if (Number.isNaN(end.getTime())) throw new BadRequest(`'ttl' is too long`);
    return end.toISOString();
  }

  #expired(record: PolicyRecord): boolean {
    return this.#clock.millis() >= expiresAt(record);
  }
}

function recordsOf(storage: Pick<StorageView, 'collection'>): Collection<PolicyRecord> {
  return storage.collection(prefix, PolicyRecord, { cached: true });
}

/** A stored text was read once before. If it no longer can be, its tokens are refused: what it denies is unknown. */
function readStored(name: string, text: string, rules: TemplateRules): Policy {
  try {
    return parsePolicy(name, text, rules);
  } catch (error) {
    throw new InternalError(`the stored policy "${name}" cannot be read`, { cause: error });
  }
}

function callerKey(base: string, identity: TemplateIdentity | undefined): string {
  return `${base}${separator}${separator}${identity?.key ?? ''}`;
}

function expiresAt(record: PolicyRecord): number {
  return record.expiration === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expiration);
}

function checkVersion(before: PolicyRecord | undefined, write: PolicyWrite): void {
  const required = (before?.cas_required ?? false) || (write.casRequired ?? false);
  if (write.cas === undefined) {
    if (required) throw new BadRequest('check-and-set parameter required for this call');
    return;
  }
  if (write.cas === -1 && before) throw new BadRequest('check-and-set parameter set to -1 on existing entry');
  if (write.cas !== -1 && write.cas !== (before?.version ?? 0))
    throw new BadRequest('check-and-set parameter did not match the current version');
}

function virtualRecord(policy: string): PolicyRecord {
  return {
    policy,
    version: 0,
    cas_required: false,
    allow_wildcards_in_identity_templates: false,
    allow_slashes_in_identity_templates: false,
    modified: '0001-01-01T00:00:00Z',
  };
}
