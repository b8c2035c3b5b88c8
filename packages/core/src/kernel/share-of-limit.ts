/** The place of a process among those that share a limit: all that are active on one store, or those of one server. */
export interface Place {
  /** This one included. */
  readonly of: number;
  /** From 0, in the order of their ids. */
  readonly rank: number;
  /** Rises whenever one comes or goes. */
  readonly changes: number;
}

/**
 * The part of a limit that a process gets. The parts add up to the limit; the remainder goes to the first ones. If the limit is below the number of processes, each still
 * gets one. `rank`: from 0 on.
 */
export function shareOf(limit: number, { of, rank }: { readonly of: number; readonly rank: number }): number {
  const each = Math.floor(limit / of);
  return Math.max(1, each + (rank < limit - each * of ? 1 : 0));
}
