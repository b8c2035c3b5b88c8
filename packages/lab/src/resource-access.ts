/** What a request does, in the words of roles. */
export interface AskedAccess {
  readonly verb: string;
  /** '' for the core group. */
  readonly group: string;
  /** With its subresource: `serviceaccounts/token`. */
  readonly resource: string;
  /** '' for the whole cluster. */
  readonly namespace: string;
  /** Undefined for a list, or for what is yet to be created. */
  readonly name?: string;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Undefined for a path that is none of resources. */
export function askedOf(method: string, target: string): AskedAccess | undefined {
  const { pathname } = new URL(target, 'https://cluster');
  const parts = pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const [root, first, second] = parts;
  const core = root === 'api' && first === 'v1';
  if (!core && (root !== 'apis' || first === undefined || second === undefined)) return undefined;
  const rest = parts.slice(core ? 2 : 3);
  const inside = rest[0] === 'namespaces' && rest.length > 2;
  const [plural, name, sub, ...more] = inside ? rest.slice(2) : rest;
  if (plural === undefined || more.length > 0) return undefined;
  const verb = VERBS[method] ?? (name === undefined ? 'list' : 'get');
  return {
    verb,
    group: core ? '' : first!,
    resource: sub === undefined ? plural : `${plural}/${sub}`,
    namespace: inside ? rest[1]! : '',
    ...(name === undefined ? {} : { name }),
  };
}
