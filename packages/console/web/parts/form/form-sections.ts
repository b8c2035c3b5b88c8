import type { Fields } from './form-values.ts';

/** Which fields are open, in order, and which are folded below a title. */
export interface Sections {
  readonly open: readonly string[];
  readonly folded: readonly (readonly [title: string, names: readonly string[]])[];
}

/**
 * With `first`, these fields and those that are needed are open. Without it, all that belong to no group, needed ones first. What nobody should use any more
 * is folded; with `first` it is left out, unless it was typed.
 */
export function sectionsOf(
  fields: Fields,
  required: readonly string[],
  first: readonly string[] | undefined,
  typed: readonly string[],
): Sections {
  const open: string[] = [];
  const folded = new Map<string, string[]>();
  for (const [name, field] of Object.entries(fields)) {
    if (field.deprecated && first && !typed.includes(name)) continue;
    const title = first?.includes(name) || required.includes(name) ? undefined : titleOf(name, field, first !== undefined);
    if (title === undefined) open.push(name);
    else folded.set(title, [...(folded.get(title) ?? []), name]);
  }
  const place = (name: string): number => {
    const at = first?.indexOf(name) ?? -1;
    if (at >= 0) return at;
    return required.includes(name) ? -1 : Number.MAX_SAFE_INTEGER;
  };
  return { open: open.sort((a, b) => place(a) - place(b)), folded: [...folded].sort(([a], [b]) => LAST.indexOf(a) - LAST.indexOf(b)) };
}

const LAST = ['More settings', 'Tokens', 'Advanced', 'Deprecated'];

function titleOf(name: string, field: Fields[string], folds: boolean): string | undefined {
  if (field.deprecated) return 'Deprecated';
  if (name.startsWith('token_')) return 'Tokens';
  return field['x-vault-displayAttrs']?.group ?? (folds ? 'More settings' : undefined);
}
