/** A field of a form, as the server declares it. */
export interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly 'x-vault-displayAttrs'?: { readonly sensitive?: boolean };
}

const WORDS: Readonly<Record<string, string>> = { jwt: 'Signed token', id: 'id', url: 'URL' };

/** `role_id`: `Role id`. */
export function labelOf(name: string): string {
  const label = name
    .split('_')
    .map((word) => WORDS[word] ?? word)
    .join(' ');
  return label.charAt(0).toUpperCase() + label.slice(1);
}
