import type { JsonRecord } from './json.ts';

/** A mount of the source, and where its content goes. Paths end in a slash; those of login methods begin with `auth/`. */
export interface SourceMount {
  readonly path: string;
  readonly to: string;
  readonly type: string;
  /** The name of the type here; undefined where this server has no such engine. */
  readonly targetType: string | undefined;
  readonly accessor: string;
  /** Below which the source stores its records; '' where it does not show it. */
  readonly uuid: string;
  readonly options: JsonRecord;
}

/** Mounts that every server has, so nobody mounts them. */
export const BUILT_IN_TYPES: ReadonlySet<string> = new Set([
  'system',
  'identity',
  'cubbyhole',
  'token',
  'ns_system',
  'ns_identity',
  'ns_cubbyhole',
  'ns_token',
]);

/** Names of types that differ: `generic` is the first name of kv 1. */
const RENAMED: Readonly<Record<string, string>> = { openldap: 'ldap', generic: 'kv', 'kv-v1': 'kv', 'kv-v2': 'kv' };

export function targetTypeOf(type: string): string {
  return Object.hasOwn(RENAMED, type) ? RENAMED[type]! : type;
}

/** Which mounts and accessors of the source are which here. */
export class MountMap {
  readonly #renames: readonly (readonly [from: string, to: string])[];
  readonly #known = new Set<string>();
  readonly mounts: SourceMount[] = [];
  /** By accessor at the source: the accessor here. Mounts that are planned have a stand-in. */
  readonly accessors = new Map<string, string>();
  /** Mounts that are here, or will be, with the type that the content needs. */
  readonly ready = new Set<string>();

  constructor(renames: readonly (readonly [from: string, to: string])[]) {
    this.#renames = renames;
  }

  get renames(): readonly (readonly [from: string, to: string])[] {
    return this.#renames;
  }

  /** Where a path of the source is here. */
  target(path: string): string {
    for (const [from, to] of this.#renames) if (path.startsWith(from)) return to + path.slice(from.length);
    return path;
  }

  add(mount: SourceMount, accessorHere: string | undefined): void {
    this.mounts.push(mount);
    this.accessors.set(mount.accessor, accessorHere ?? `accessor-of-${mount.to}`);
    if (accessorHere !== undefined) this.#known.add(mount.accessor);
  }

  /** The mount is here now. */
  found(mount: SourceMount, accessorHere: string): void {
    this.accessors.set(mount.accessor, accessorHere);
    this.#known.add(mount.accessor);
  }

  /** The first mount that the text names by its accessor, and that is not here. */
  missingIn(text: string): SourceMount | undefined {
    return this.mounts.find(({ accessor }) => accessor !== '' && !this.#known.has(accessor) && text.includes(accessor));
  }

  /** The text with the accessors of this server. */
  withAccessors(text: string): string {
    let result = text;
    for (const [there, here] of this.accessors) if (there !== '' && there !== here) result = result.replaceAll(there, here);
    return result;
  }
}
