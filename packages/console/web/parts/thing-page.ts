/** A page of the console: its pattern and what stands in it. */
export interface ThingPage {
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
}

type Pattern = readonly [path: RegExp, page: (mount: string, names: readonly string[]) => ThingPage];

const PATTERNS: Readonly<Record<string, readonly Pattern[]>> = {
  database: [
    [/^static-roles\/(.+)$/, (mount, [name]) => ({ to: '/database/$mount/static/$name', params: { mount, name: name! } })],
    [/^roles\/(.+)$/, (mount, [name]) => ({ to: '/database/$mount/roles/$name', params: { mount, name: name! } })],
    [/^config\/(.+)$/, (mount, [name]) => ({ to: '/database/$mount/connections/$name', params: { mount, name: name! } })],
  ],
  ldap: [
    [/^static-role\/(.+)$/, (mount, [name]) => ({ to: '/ldap/$mount/static/$name', params: { mount, name: name! } })],
    [
      /^library\/(?:manage\/)?(.+?)(?:\/(?:status|waiting|check-out|check-in))?$/,
      (mount, [set]) => ({ to: '/ldap/$mount/library/$set', params: { mount, set: set! } }),
    ],
    [/^config$/, (mount) => ({ to: '/ldap/$mount/config', params: { mount } })],
  ],
  aws: [
    [/^static-roles\/(.+)$/, (mount, [name]) => ({ to: '/aws/$mount/static/$name', params: { mount, name: name! } })],
    [/^config\/root$/, (mount) => ({ to: '/aws/$mount/config', params: { mount } })],
  ],
  sync: [
    [
      /^destinations\/([^/]+)\/([^/]+)\/plan$/,
      (_mount, [type, name]) => ({ to: '/sync/$type/$name/plan', params: { type: type!, name: name! } }),
    ],
    [/^destinations\/([^/]+)\/([^/]+)/, (_mount, [type, name]) => ({ to: '/sync/$type/$name', params: { type: type!, name: name! } })],
  ],
};

/** The page about a path of a mount; the generic page of its engine where there is none of its own. `path` begins with the mount. */
export function pageOfThing(mount: string, type: string | null, path: string): ThingPage {
  const bare = mount.replace(/\/$/, '');
  const below = path.startsWith(mount) ? path.slice(mount.length) : path;
  for (const [pattern, page] of (type !== null && Object.hasOwn(PATTERNS, type) && PATTERNS[type]) || []) {
    const match = pattern.exec(below);
    if (match) return page(bare, match.slice(1));
  }
  return { to: '/engine/$mount/$', params: { mount: bare, rest: below } };
}
