import { pageUrl } from '../api/names-in-urls.ts';

/** One line of the palette: where it leads, and what it says. */
export interface PaletteEntry {
  readonly id: string;
  readonly label: string;
  /** What kind of thing it is: `secret`, `page`. */
  readonly kind: string;
  /** Below `/ui`. */
  readonly url: string;
}

/** A hit of `sys/internal/ui/search`. */
export interface Hit {
  readonly mount: string;
  readonly type: string;
  readonly list: string;
  readonly name: string;
}

/** Pages of lists that have their own, by type of mount and list: the pattern of an item, and what it is. */
const ITEMS: Readonly<Record<string, Readonly<Record<string, readonly [pattern: string, kind: string]>>>> = {
  database: {
    'config/': ['/database/$mount/connections/$name', 'connection'],
    'roles/': ['/database/$mount/roles/$name', 'role'],
    'static-roles/': ['/database/$mount/static/$name', 'static role'],
  },
  ldap: {
    'static-role/': ['/ldap/$mount/static/$name', 'static role'],
    'role/': ['/ldap/$mount/dynamic/$name', 'dynamic role'],
    'library/': ['/ldap/$mount/library/$name', 'library set'],
  },
  aws: {
    'roles/': ['/aws/$mount/roles/$name', 'role'],
    'static-roles/': ['/aws/$mount/static/$name', 'static role'],
  },
  token: { 'roles/': ['/access/token-roles/$name', 'token role'] },
  system: {
    'policies/acl/': ['/access/policies/$name', 'policy'],
    'policies/password/': ['/access/password-policies/$name', 'password policy'],
  },
};

/** Where a found name leads: to its own page, else to the generic page of its path. */
export function entryOf({ mount, type, list, name }: Hit): PaletteEntry {
  const id = mount + list + name;
  const at = mount.replace(/\/$/, '');
  if (type === 'kv' || type === 'cubbyhole') {
    const isFolder = name.endsWith('/');
    const rest = isFolder ? name.slice(0, -1) : name;
    return {
      id,
      label: `${at}/${name}`,
      kind: isFolder ? 'folder' : 'secret',
      url: pageUrl(isFolder ? '/kv/$mount/list/$' : '/kv/$mount/show/$', { mount: at, rest }),
    };
  }
  const [pattern, kind] = ITEMS[type]?.[list] ?? [undefined, list.replace(/s?\/$/, '')];
  if (pattern) return { id, label: `${at}/${list}${name}`, kind, url: pageUrl(pattern, { mount: at, name }) };
  return { id, label: `${at}/${list}${name}`, kind, url: otherPage({ mount, type, list, name }) };
}

/** Records of login methods have pages by noun; what is the server's own is in the explorer; all else has generic pages. */
function otherPage({ mount, type, list, name }: Hit): string {
  const at = mount.replace(/\/$/, '');
  if (type === 'system' || type === 'identity') return pageUrl('/api/$', { rest: mount + list + name });
  if (mount.startsWith('auth/')) {
    return pageUrl('/auth/$mount/$noun/$', { mount: at.slice('auth/'.length), noun: list.replace(/\/$/, ''), rest: name });
  }
  return pageUrl('/engine/$mount/$', { mount: at, rest: list + name });
}

/** Those of the entries that have all words, the ones that begin with the first word before the others. */
export function matching(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  const fits = entries.filter(({ label, kind }) => words.every((word) => `${kind} ${label}`.toLowerCase().includes(word)));
  const rank = ({ label }: PaletteEntry): number => (label.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1);
  return [...fits].sort((a, b) => rank(a) - rank(b));
}

/** Hits as people want them: names that end in the last word first, then short ones. */
export function ranked(hits: readonly Hit[], text: string): PaletteEntry[] {
  const last = text.toLowerCase().trim().split(/\s+/u).at(-1) ?? '';
  const own = ({ name }: Hit): string => name.replace(/\/$/, '').split('/').at(-1)!.toLowerCase();
  const rank = (hit: Hit): number => (own(hit) === last ? 0 : own(hit).startsWith(last) ? 1 : 2);
  return [...hits].sort((a, b) => rank(a) - rank(b) || a.name.length - b.name.length).map(entryOf);
}

const MOUNTS: Readonly<Record<string, string>> = {
  kv: '/kv/$mount/list/$',
  cubbyhole: '/kv/$mount/list/$',
  database: '/database/$mount',
  ldap: '/ldap/$mount',
  aws: '/aws/$mount',
};

export function mountEntry(path: string, type: string): PaletteEntry {
  const mount = path.replace(/\/$/, '');
  return { id: `mount ${path}`, label: path, kind: `${type} mount`, url: pageUrl(MOUNTS[type] ?? '/engine/$mount', { mount, rest: '' }) };
}
