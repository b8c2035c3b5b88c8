/** A path of the API as policies write it, and what it is for. */
export interface DeclaredPath {
  /** `+` stands for a name. */
  readonly pattern: string;
  readonly about: string;
}

/** The part of the OpenAPI document that is needed here. */
export interface Document {
  readonly paths?: Readonly<Record<string, object>>;
}

/** The paths of the document as policies write them, each once, in order. */
export function declaredPaths({ paths = {} }: Document): DeclaredPath[] {
  const found = new Map<string, string>();
  for (const [path, operations] of Object.entries(paths)) {
    const pattern = path
      .replace(/^\//, '')
      .replace(/\{[^}]*\}$/, '*')
      .replaceAll(/\{[^}]*\}/g, '+');
    const about = (Object.values(operations) as { readonly summary?: string }[]).find((one) => one.summary)?.summary ?? '';
    if (!found.has(pattern)) found.set(pattern, about);
  }
  return [...found].map(([pattern, about]) => ({ pattern, about })).sort((a, b) => (a.pattern < b.pattern ? -1 : 1));
}
