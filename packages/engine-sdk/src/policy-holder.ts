import type { Collection } from './storage-view.ts';

/** A role, user or group whose logins, or tokens, get policies. */
export interface PolicyHolder {
  /** One word: `role`, `user`, `group`. */
  readonly kind: string;
  /** Where operators read and change it, below the mount: `role/web`. Whoever may read this path may know what it holds. */
  readonly path: string;
  readonly name: string;
  readonly policies: readonly string[];
  /** Tokens get the `default` policy besides. */
  readonly withDefault: boolean;
  /** Whether it may give another policy, where it names policies by a pattern. */
  readonly mayGive?: (policy: string) => boolean;
}

/** What a record says about policies; `name` where its id is not its name. */
export type HeldPolicies = Pick<PolicyHolder, 'policies' | 'withDefault' | 'mayGive'> & { readonly name?: string };

/** Records of one kind that hold policies. */
export interface HolderSource {
  /** The beginning of the path of each: `role` makes `role/web`. */
  readonly at: string;
  page(query: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly (readonly [id: string, holder: PolicyHolder | undefined])[]>;
}

/** The records of a collection. One that cannot be read holds nothing. */
export function holderSource<T>(
  at: string,
  kind: string,
  records: Pick<Collection<T>, 'list' | 'get'>,
  held: (record: T, id: string) => HeldPolicies | Promise<HeldPolicies>,
): HolderSource {
  const one = async (id: string): Promise<PolicyHolder | undefined> => {
    const record = await records.get(id).catch(() => undefined);
    return record === undefined ? undefined : { kind, path: `${at}/${id}`, name: id, ...(await held(record, id)) };
  };
  return {
    at,
    page: async (query) => {
      const ids = await records.list(query);
      return Promise.all(ids.map(async (id) => [id, await one(id)] as const));
    },
  };
}

/** A page of holders, and from where the next page goes on. */
export interface HolderPage {
  readonly holders: readonly PolicyHolder[];
  /** Undefined: there are no more. */
  readonly next?: string;
}

/** A page of the holders of some sources, in the order of the sources. Reads at most `limit` records. */
export async function pageOfHolders(
  sources: readonly HolderSource[],
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<HolderPage> {
  const holders: PolicyHolder[] = [];
  let left = limit;
  let at = after === undefined ? 0 : sources.findIndex((source) => after === source.at || after.startsWith(`${source.at}/`));
  let name = after?.slice((sources[at]?.at.length ?? 0) + 1);
  for (; at >= 0 && at < sources.length; at++, name = undefined) {
    const source = sources[at]!;
    if (left === 0) return { holders, next: source.at };
    const page = await source.page({ limit: left, ...(name === undefined || name === '' ? {} : { after: name }) });
    for (const [, held] of page) if (held) holders.push(held);
    left -= page.length;
    const last = page.at(-1);
    if (left === 0 && last) return { holders, next: `${source.at}/${last[0]}` };
  }
  return { holders };
}
