import type { ApiDocument, PathItem } from './openapi.ts';

/** A declared path of a mount: `roles/{name}`. */
export interface EnginePath {
  /** Below the mount. */
  readonly template: string;
  readonly item: PathItem;
}

/** A declared path, with what its captures took of an address. */
export interface FoundPath extends EnginePath {
  readonly captures: Readonly<Record<string, string>>;
}

/** The declared paths of a mount, which is without a closing slash. */
export function pathsOf({ paths }: ApiDocument, mount: string): EnginePath[] {
  const prefix = `/${mount}/`;
  return Object.entries(paths).flatMap(([path, item]) => (path.startsWith(prefix) ? [{ template: path.slice(prefix.length), item }] : []));
}

/** The declared path of an address; one with fewer captures wins, then the longer one. */
export function findPath(paths: readonly EnginePath[], address: string): FoundPath | undefined {
  const found = paths.flatMap((path) => {
    const match = new RegExp(`^${pattern(path.template)}$`).exec(address);
    return match ? [{ ...path, captures: { ...match.groups } }] : [];
  });
  return found.sort((a, b) => countOf(a) - countOf(b) || b.template.length - a.template.length)[0];
}

function countOf({ captures }: FoundPath): number {
  return Object.keys(captures).length;
}

function pattern(template: string): string {
  return template
    .split('/')
    .map((segment, at, all) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (!name) return segment.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
      return at === all.length - 1 ? `(?<${name}>.+)` : `(?<${name}>.+?)`;
    })
    .join('/');
}

/** The declared path of an encoded address anywhere in the document. */
export function declaredItem({ paths }: ApiDocument, address: string): PathItem | undefined {
  const all = Object.entries(paths).map(([template, item]) => ({ template: template.slice(1), item }));
  return findPath(all, address.split('/').map(decodeURIComponent).join('/'))?.item;
}

export function capturesOf(template: string): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** Whether the path lists names. */
export function lists({ item }: EnginePath): boolean {
  return item.get?.parameters?.some(({ name }) => name === 'list') ?? false;
}

/** Whether a read makes a credential, which a page must not do by itself. */
export function issues({ item }: EnginePath): boolean {
  return item.get?.['x-strongroom-ui']?.kind === 'issue';
}

/** The path of one thing of a list: `roles` has `roles/{name}`. */
export function itemOf(paths: readonly EnginePath[], list: string): EnginePath | undefined {
  return paths.find(({ template }) => new RegExp(`^${pattern(list)}/\\{\\w+\\}$`).test(template));
}

/**
 * What else can be done with a thing of a list: paths with one capture that is no thing of a list of its own, and takes the same name (`roles/{name}` and
 * `creds/{name}`), or one named after the list (`codes/{role}`).
 */
export function relatedTo(paths: readonly EnginePath[], thing: EnginePath): EnginePath[] {
  const list = thing.template.slice(0, thing.template.lastIndexOf('/'));
  const [own, ...more] = capturesOf(thing.template);
  if (own === undefined || more.length > 0) return [];
  const noun = list.slice(list.lastIndexOf('/') + 1);
  return paths.filter((path) => {
    const [capture, ...others] = capturesOf(path.template);
    if (capture === undefined || others.length > 0 || path.template === thing.template) return false;
    if (path.template.startsWith(`${thing.template}/`)) return true;
    const parent = path.template.slice(0, path.template.lastIndexOf('/'));
    const listed = paths.some((other) => other.template === parent && lists(other));
    return !listed && (capture === own || noun === capture || noun === `${capture}s`);
  });
}

/** A template with its captures filled in. */
export function filled(template: string, captures: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => captures[name] ?? '');
}
