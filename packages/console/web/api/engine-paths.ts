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

/** Whether a write makes a credential. */
export function issuesByWrite({ item }: EnginePath): boolean {
  return item.post?.['x-strongroom-ui']?.kind === 'issue';
}

/** Whether a delete is the path's write, said in another way: it takes the same fields, and there is nothing that it would end. */
export function deletesByWrite({ item }: EnginePath): boolean {
  return item.delete !== undefined && item.delete.summary === item.post?.summary;
}

/** What a link to a path says: what is done there, where that is one thing. */
export function linkText({ item }: EnginePath): string {
  const { get, post, description } = item;
  return ((get && post ? undefined : (post ?? get)?.summary) ?? description).replace(/\.$/, '');
}

/** The path of one thing of a list: `roles` has `roles/{name}`. */
export function itemOf(paths: readonly EnginePath[], list: string): EnginePath | undefined {
  return paths.find(({ template }) => new RegExp(`^${pattern(list)}/\\{\\w+\\}$`).test(template));
}

/**
 * What else can be done with a thing of a list: paths with one capture that is no thing of a list of its own, and takes the same name (`roles/{name}` and
 * `creds/{name}`), or one named after the list (`codes/{role}`). Where things of several lists have the same capture, its description tells whose name it is. Of
 * a path without captures: those beside and below it (`config/connection` and `config/test`).
 */
export function relatedTo(paths: readonly EnginePath[], thing: EnginePath): EnginePath[] {
  const list = parentOf(thing.template);
  const [own, ...more] = capturesOf(thing.template);
  if (own === undefined) return beside(paths, thing);
  if (more.length > 0) return [];
  const noun = list.slice(list.lastIndexOf('/') + 1);
  const things = paths.filter((path) => path.template.endsWith(`/{${own}}`) && isListed(paths, path));
  return paths.filter((path) => {
    const [capture, ...others] = capturesOf(path.template);
    if (capture === undefined || others.length > 0 || path.template === thing.template) return false;
    if (path.template.startsWith(`${thing.template}/`)) return true;
    if (isListed(paths, path)) return false;
    if (capture !== own) return noun === capture || noun === `${capture}s`;
    const meaning = meaningOf(path, capture);
    return meaning === meaningOf(thing, own) || things.every((other) => meaningOf(other, own) !== meaning);
  });
}

/** The list that an action on one of its things belongs to: `roles` of `creds/{name}`. */
export function listOf(paths: readonly EnginePath[], action: EnginePath): EnginePath | undefined {
  const [capture, ...others] = capturesOf(action.template);
  if (capture === undefined || others.length > 0) return undefined;
  const things = paths.filter((path) => path.template.endsWith(`/{${capture}}`) && isListed(paths, path));
  const owners = things.filter((thing) => meaningOf(thing, capture) === meaningOf(action, capture));
  return owners.length === 1 ? paths.find(({ template }) => template === parentOf(owners[0]!.template)) : undefined;
}

function beside(paths: readonly EnginePath[], { template }: EnginePath): EnginePath[] {
  const parent = parentOf(template);
  const places = parent === '' ? [`${template}/`] : [`${template}/`, `${parent}/`];
  return paths.filter(
    (path) =>
      path.template !== template && capturesOf(path.template).length === 0 && places.some((place) => path.template.startsWith(place)),
  );
}

function parentOf(template: string): string {
  return template.slice(0, Math.max(template.lastIndexOf('/'), 0));
}

function isListed(paths: readonly EnginePath[], { template }: EnginePath): boolean {
  return paths.some((path) => path.template === parentOf(template) && lists(path));
}

function meaningOf({ item }: EnginePath, capture: string): string | undefined {
  return item.parameters?.find(({ name }) => name === capture)?.description;
}

/** A template with its captures filled in. */
export function filled(template: string, captures: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => captures[name] ?? '');
}
