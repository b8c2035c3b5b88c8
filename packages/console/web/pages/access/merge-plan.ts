import type { Alias, Entity } from './identity.ts';

/** Two aliases at one login method, of which one can stay. */
export interface AliasClash {
  readonly mount: string;
  readonly ours: Alias;
  readonly theirs: Alias;
}

/** What a merge would do, told before it is done. */
export interface MergePlan {
  readonly moves: readonly Alias[];
  readonly clashes: readonly AliasClash[];
  /** Memberships that the target gains. */
  readonly joins: readonly string[];
  /** Policies of the source itself, which end with it. */
  readonly lost: readonly string[];
  readonly lostMetadata: readonly string[];
}

export function mergePlan(from: Entity, to: Entity): MergePlan {
  const clashes = from.aliases.flatMap((theirs) => {
    const ours = to.aliases.find(({ mount_accessor: accessor }) => accessor === theirs.mount_accessor);
    return ours ? [{ mount: theirs.mount_path ?? theirs.mount_accessor, ours, theirs }] : [];
  });
  return {
    moves: from.aliases.filter((alias) => !clashes.some(({ theirs }) => theirs.id === alias.id)),
    clashes,
    joins: from.direct_group_ids.filter((id) => !to.direct_group_ids.includes(id)),
    lost: from.policies.filter((policy) => !to.policies.includes(policy)),
    lostMetadata: Object.keys(from.metadata ?? {}),
  };
}
