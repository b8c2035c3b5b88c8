import { own } from '@strongroom/engine-sdk';

/** What the `{{identity…}}` of a policy's paths may name: the caller's entity and the groups it is a member of. */
export interface TemplateContext {
  readonly entity?: {
    readonly id: string;
    readonly name: string;
    readonly metadata: Readonly<Record<string, string>>;
    /** By the accessor of the login method's mount. */
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

/** What a substituted value may hold besides plain text. */
export interface TemplateRules {
  readonly allowWildcards: boolean;
  readonly allowSlashes: boolean;
}

/** A path with its selectors taken apart: `texts[0] selectors[0] texts[1] …`. */
export interface PathTemplate {
  readonly texts: readonly string[];
  readonly selectors: readonly Selector[];
}

type Entity = NonNullable<TemplateContext['entity']>;
export interface Selector {
  /** As written between the braces. */
  readonly text: string;
  /** Absent: nothing is known by this name, so that the path never applies. */
  readonly resolve?: (context: TemplateContext) => string | undefined;
}

/** Braces that do not pair. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
}

/** Undefined for a text without braces. @throws TemplateSyntaxError */
export function parseTemplate(text: string): PathTemplate | undefined {
  if (!text.includes('{{') && !text.includes('}}')) return undefined;
  const [head = '', ...rest] = text.split('{{');
  if (head.includes('}}')) throw unbalanced();
  const texts = [head];
  const selectors: Selector[] = [];
  for (const piece of rest) {
    const parts = piece.split('}}');
    if (parts.length !== 2) throw unbalanced();
    selectors.push(selector((parts[0] ?? '').trim()));
    texts.push(parts[1] ?? '');
  }
  return { texts, selectors };
}

/**
 * The path for this caller. Undefined, so that the whole block is left out, where a selector names nothing the caller has, or where a
 * value would change the meaning of the path: one with `*` or `+`, or with `/`, unless the policy allows it.
 */
export function resolveTemplate(template: PathTemplate, context: TemplateContext | undefined, rules: TemplateRules): string | undefined {
  if (!context) return undefined;
  let path = template.texts[0] ?? '';
  for (let i = 0; i < template.selectors.length; i++) {
    const value = template.selectors[i]?.resolve?.(context);
    if (value === undefined || value === '') return undefined;
    if (!rules.allowWildcards && /[*+]/.test(value)) return undefined;
    if (!rules.allowSlashes && value.includes('/')) return undefined;
    path += value + (template.texts[i + 1] ?? '');
  }
  return path;
}

/**
 * Every path that the template could give, as a pattern of a policy, where it cannot be filled in: a segment with a selector may be any, and where
 * values may hold slashes, all that follows may be anything.
 */
export function widestPath({ texts }: PathTemplate, rules: TemplateRules): string {
  const head = texts[0] ?? '';
  if (rules.allowSlashes) return `${head}*`;
  const marked = texts.join('\0').split('/');
  const open = marked.at(-1)?.endsWith('*') === true;
  const segments = marked.map((segment) => (segment.includes('\0') ? '+' : segment));
  // A beginning that holds a selector is any last segment, and whatever comes below it.
  if (open && segments.at(-1) === '+') return segments.length === 1 ? '*' : `${segments.slice(0, -1).join('/')}/*`;
  return segments.join('/');
}

function unbalanced(): TemplateSyntaxError {
  return new TemplateSyntaxError('failed to validate policy templating: unbalanced templating characters');
}

function selector(text: string): Selector {
  const resolve = resolver(text);
  return resolve ? { text, resolve } : { text };
}

function resolver(text: string): Selector['resolve'] {
  const entity = after(text, 'identity.entity.');
  if (entity !== undefined) return entityResolver(entity);
  const id = after(text, 'identity.groups.ids.');
  if (id !== undefined) return groupResolver(id, 'id', 'name');
  const name = after(text, 'identity.groups.names.');
  if (name !== undefined) return groupResolver(name, 'name', 'id');
  return undefined;
}

function entityResolver(rest: string): Selector['resolve'] {
  if (rest === 'id') return ({ entity }) => entity?.id;
  if (rest === 'name') return ({ entity }) => entity?.name;
  const metadata = after(rest, 'metadata.');
  if (metadata !== undefined) return ({ entity }) => own(entity?.metadata, metadata);
  const alias = /^aliases\.([^.]+)\.(.+)$/s.exec(rest);
  if (!alias) return undefined;
  const [, accessor = '', field = ''] = alias;
  const aliasOf = (entity: Entity | undefined) => own(entity?.aliases, accessor);
  if (field === 'id') return ({ entity }) => aliasOf(entity)?.id;
  if (field === 'name') return ({ entity }) => aliasOf(entity)?.name;
  const ofMethod = after(field, 'metadata.');
  if (ofMethod !== undefined) return ({ entity }) => own(aliasOf(entity)?.metadata, ofMethod);
  const custom = after(field, 'custom_metadata.');
  if (custom !== undefined) return ({ entity }) => own(aliasOf(entity)?.custom_metadata, custom);
  return undefined;
}

/** Names may have dots in them, so the field is looked for from the end. */
function groupResolver(rest: string, by: 'id' | 'name', other: 'id' | 'name'): Selector['resolve'] {
  const metadata = /^(.+?)\.metadata\.(.+)$/s.exec(rest);
  if (metadata) {
    const [, key = '', field = ''] = metadata;
    return ({ groups }) => own(groups.find((group) => group[by] === key)?.metadata, field);
  }
  if (!rest.endsWith(`.${other}`)) return undefined;
  const key = rest.slice(0, -other.length - 1);
  return ({ groups }) => groups.find((group) => group[by] === key)?.[other];
}

function after(text: string, start: string): string | undefined {
  return text.startsWith(start) && text.length > start.length ? text.slice(start.length) : undefined;
}
