/** A field of an object, as the records of server-side apply name it: `data.k`, or `metadata.labels.team`. */
export type FieldPath = readonly string[];

/** The fields that one manager has set. */
interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  fields: Set<string>;
  time: string;
}

/** A field that an apply would change, and whose it is. */
export interface FieldConflict {
  readonly manager: string;
  readonly field: FieldPath;
}

const keyOf = (path: FieldPath): string => JSON.stringify(path);
const pathOf = (key: string): FieldPath => JSON.parse(key) as FieldPath;

/** Who set which field of one object: `metadata.managedFields`, kept by the rules of server-side apply. */
export class FieldOwners {
  readonly #owners: Owner[] = [];

  /** Fields that others than the manager own, and that would get another value. */
  conflicts(manager: string, changed: readonly FieldPath[]): FieldConflict[] {
    return this.#owners
      .filter((owner) => owner.manager !== manager || owner.operation !== 'Apply')
      .flatMap((owner) => changed.filter((path) => owner.fields.has(keyOf(path))).map((field) => ({ manager: owner.manager, field })));
  }

  /** Fields that the manager applied before, and that nobody else owns. */
  applied(manager: string): FieldPath[] {
    const own = this.#owners.find((owner) => owner.manager === manager && owner.operation === 'Apply');
    const others = this.#owners.filter((owner) => owner !== own);
    return [...(own?.fields ?? [])].filter((key) => !others.some(({ fields }) => fields.has(key))).map(pathOf);
  }

  /** An apply owns what it names; of what it changes it is the only owner. */
  apply(manager: string, named: readonly FieldPath[], changed: readonly FieldPath[], gone: readonly FieldPath[], time: string): void {
    this.#disown([...changed, ...gone]);
    const own = this.#owner(manager, 'Apply', time);
    own.fields = new Set(named.map(keyOf));
    own.time = time;
  }

  /** Any other write owns what it changes. */
  update(manager: string, changed: readonly FieldPath[], gone: readonly FieldPath[], time: string): void {
    this.#disown([...changed, ...gone]);
    if (changed.length === 0) return;
    const own = this.#owner(manager, 'Update', time);
    for (const path of changed) own.fields.add(keyOf(path));
    own.time = time;
  }

  toJSON(): object[] {
    return this.#owners
      .filter(({ fields }) => fields.size > 0)
      .map(({ manager, operation, fields, time }) => ({
        manager,
        operation,
        apiVersion: 'v1',
        time,
        fieldsType: 'FieldsV1',
        fieldsV1: tree([...fields].map(pathOf)),
      }));
  }

  #disown(paths: readonly FieldPath[]): void {
    for (const { fields } of this.#owners) for (const path of paths) fields.delete(keyOf(path));
  }

  #owner(manager: string, operation: Owner['operation'], time: string): Owner {
    const known = this.#owners.find((owner) => owner.manager === manager && owner.operation === operation);
    if (known) return known;
    const made: Owner = { manager, operation, fields: new Set(), time };
    this.#owners.push(made);
    return made;
  }
}

type Tree = { [name: string]: Tree };

function tree(paths: readonly FieldPath[]): Tree {
  const root: Tree = {};
  for (const path of paths) {
    let at = root;
    for (const step of path) at = at[`f:${step}`] ??= {};
  }
  return root;
}
