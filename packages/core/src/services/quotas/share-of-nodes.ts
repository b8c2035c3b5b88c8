/** The place of this server among the servers of one store. */
export interface Place {
  /** Servers that live, this one included. */
  readonly of: number;
  /** From 0, in the order of their ids. */
  readonly rank: number;
  /** Rises whenever a server comes or goes. */
  readonly changes: number;
}

/**
 * This server's part of a limit that the servers of one store share. The parts add up to the limit; the remainder goes to the first ones. If the limit is
 * below the number of servers, each still gets one.
 */
export function shareOf(limit: number, { of, rank }: Omit<Place, 'changes'>): number {
  const each = Math.floor(limit / of);
  return Math.max(1, each + (rank < limit - each * of ? 1 : 0));
}
