/** `data` of `sys/internal/ui/resultant-acl`. */
export interface ResultantAcl {
  readonly root?: boolean;
  readonly exact_paths?: Readonly<Record<string, { readonly capabilities: readonly string[] }>>;
  /** Without their closing `*`, except those with `+`. */
  readonly glob_paths?: Readonly<Record<string, { readonly capabilities: readonly string[] }>>;
}

/**
 * What the token's policies name directly below a folder that it may not list: folders with a closing slash, and secrets. `roots` are the paths of the mount below
 * which names begin (`secret/data/`, `secret/metadata/`), `folder` is '' or ends in a slash.
 */
export function reachableIn(acl: ResultantAcl, roots: readonly string[], folder: string): string[] {
  const names = new Set<string>();
  const add = (path: string, capabilities: readonly string[], isPrefix: boolean): void => {
    if (capabilities.length === 0 || capabilities.includes('deny')) return;
    for (const root of roots) {
      const place = root + folder;
      if (!path.startsWith(place) || path === place) continue;
      const below = path.slice(place.length);
      const plus = below.split('/').indexOf('+');
      const known = plus < 0 ? below : below.split('/').slice(0, plus).join('/') + (plus > 0 ? '/' : '');
      if (known === '' || known === '/') continue;
      const slash = known.indexOf('/');
      if (slash >= 0) names.add(known.slice(0, slash + 1));
      else if (!isPrefix && !known.endsWith('*')) names.add(known);
    }
  };
  for (const [path, { capabilities }] of Object.entries(acl.exact_paths ?? {})) add(path, capabilities, false);
  for (const [path, { capabilities }] of Object.entries(acl.glob_paths ?? {})) add(path, capabilities, true);
  return [...names].sort((a, b) => (a < b ? -1 : 1));
}
