import { BadRequest, type Collection, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type, type Static, type TSchema } from 'typebox';

/** Longer names cannot be stored, so nothing is mapped to them. */
const LONGEST = 900;

/** How the names of one kind of mapping fold, by the mount's rule about case. */
export type NameRule = (name: string, caseSensitive: boolean) => string;

export interface MappingKind<S extends TSchema> {
  /** As in paths: `users`. */
  readonly kind: 'groups' | 'users';
  readonly prefix: string;
  readonly schema: S;
  readonly rule: NameRule;
}

/** By kind: the names that an earlier version stored are folded. */
const SETTLED = 'settled/';
const Mark = Type.Object({});

/**
 * The mappings of one kind, by the folded name. A name that was stored under another rule, and whose folded one belongs to another record, keeps its
 * record: the very variant reads and deletes it, and no login uses it.
 */
export class MappingRecords<S extends TSchema> {
  readonly records: Collection<Static<S>>;
  readonly #kind: MappingKind<S>;
  readonly #storage: StorageView;
  readonly #caseSensitive: () => boolean;
  #leftOver: ReadonlySet<string> = new Set();

  constructor(storage: StorageView, kind: MappingKind<S>, caseSensitive: () => boolean) {
    this.records = collectionOf(storage, kind);
    this.#kind = kind;
    this.#storage = storage;
    this.#caseSensitive = caseSensitive;
  }

  /** The name of the record that a variant means. */
  readonly fold = (name: string): string => (this.#leftOver.has(name) ? name : this.#rule(name));

  /** What a login has: leftovers never. Names that no record can have give nothing. */
  async get(name: string, caseSensitive: boolean): Promise<Static<S> | undefined> {
    return isStorable(name) && this.#kind.rule(name, caseSensitive) === name ? this.records.get(name) : undefined;
  }

  /** @throws BadRequest for a name that no record can have. */
  requireStorable(name: string): void {
    if (isStorable(name)) return;
    throw new BadRequest(`the name of the ${this.#kind.kind.slice(0, -1)} is empty, has a NUL in it or is longer than ${LONGEST} bytes`);
  }

  /** @throws BadRequest for a name that no record can have, and for a leftover. */
  requireWritable(name: string): void {
    this.requireStorable(name);
    if (!this.isLeftOver(name)) return;
    const { kind } = this.#kind;
    throw new BadRequest(
      `${kind}/${name} was stored while names were compared otherwise, and no login uses it: delete it, or write ${kind}/${this.#rule(name)}`,
    );
  }

  /** The name is stored, and another record has its folded name. */
  isLeftOver(name: string): boolean {
    return this.#leftOver.has(name);
  }

  /** A warning where the record is not used; none elsewhere. */
  warningsOf(name: string): { readonly warnings?: readonly string[] } {
    if (!this.isLeftOver(name)) return {};
    return {
      warnings: [`no login uses this record: names are compared otherwise now, and ${this.#kind.kind}/${this.#rule(name)} is another one`],
    };
  }

  leftOver(): string[] {
    return [...this.#leftOver].sort();
  }

  /** `caseSensitive` reads the rule within the transaction: the name folds by the rule under which the record is stored. */
  async put(name: string, record: Static<S>, caseSensitive: (tx: Transaction) => Promise<boolean>): Promise<void> {
    this.requireWritable(name);
    await this.#storage.transaction(async (tx) => {
      await collectionOf(tx, this.#kind).put(this.#kind.rule(name, await caseSensitive(tx)), record);
    });
  }

  async delete(name: string): Promise<void> {
    await this.records.delete(name);
    if (this.isLeftOver(name)) await this.look();
  }

  /** Reads which names are stored that are not folded: at start, and after the rule or a record has changed. */
  async look(): Promise<void> {
    const names = await this.records.list();
    this.#leftOver = new Set(names.filter((name) => this.#rule(name) !== name));
  }

  /** Another process changed a record. */
  async invalidated(key: string): Promise<void> {
    if (!key.startsWith(this.#kind.prefix)) return;
    const name = key.slice(this.#kind.prefix.length);
    if (this.#rule(name) !== name) await this.look();
  }

  /**
   * Once for each mount: names that a version stored which folded the case alone get their folded name, where it is free. Names that no login
   * used then are left over: a start makes no mapping count.
   */
  async settle(): Promise<void> {
    if (await this.#storage.collection(SETTLED, Mark).has(this.#kind.kind)) return;
    await this.#storage.transaction(async (tx) => {
      const records = collectionOf(tx, this.#kind);
      for (const name of await records.list()) {
        const used = this.#caseSensitive() || name.toLowerCase() === name;
        const folded = this.#rule(name);
        if (used && folded !== name && isStorable(folded) && !(await records.has(folded))) await rename(records, name, folded);
      }
      await tx.collection(SETTLED, Mark).put(this.#kind.kind, {});
    });
  }

  /**
   * Within the transaction that makes names equal whatever their case: each record takes the folded name.
   * @throws BadRequest that names two records that would have one name
   */
  async foldAll(tx: Transaction, caseSensitive: boolean): Promise<void> {
    const { kind, rule } = this.#kind;
    const records = collectionOf(tx, this.#kind);
    const byFolded = new Map<string, string>();
    for (const name of await records.list()) {
      const folded = rule(name, caseSensitive);
      const other = byFolded.get(folded);
      if (other !== undefined) {
        throw new BadRequest(`case_sensitive_names: ${kind}/${other} and ${kind}/${name} would be one name; delete one of them first`);
      }
      byFolded.set(folded, name);
    }
    for (const [folded, name] of byFolded) if (folded !== name) await rename(records, name, folded);
  }

  #rule(name: string): string {
    return this.#kind.rule(name, this.#caseSensitive());
  }
}

function collectionOf<S extends TSchema>(view: Pick<StorageView, 'collection'>, { prefix, schema }: MappingKind<S>): Collection<Static<S>> {
  return view.collection(prefix, schema, { cached: true });
}

async function rename<T>(records: Collection<T>, from: string, to: string): Promise<void> {
  const record = await records.get(from);
  if (record === undefined) return;
  await records.put(to, record);
  await records.delete(from);
}

function isStorable(name: string): boolean {
  return name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= LONGEST;
}
