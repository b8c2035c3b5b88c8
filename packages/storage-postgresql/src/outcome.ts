import { setTimeout as delay } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** Longer than a transaction can stand still on the server. */
const LIMIT_MS = 10_000;
const PAUSE_MS = 200;

/**
 * What became of a transaction whose connection was lost in its COMMIT. PostgreSQL keeps that for every transaction number, so nothing need be
 * written for it. Undefined where nobody can tell: no server answers in time, or the one that does has another past.
 */
export async function outcomeOfCommit(connections: Connections, txid: string, past: number): Promise<'committed' | 'aborted' | undefined> {
  const { history } = connections;
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end) {
    try {
      const rows = await connections.read<{ status: string | null }>('SELECT txid_status($1::bigint) AS status', [txid]);
      // On another server the number may be another transaction's.
      if (history.past !== past || (!history.known && connections.severalHosts)) return undefined;
      const status = rows[0]?.status;
      if (status === 'committed' || status === 'aborted') return status;
      if (status !== 'in progress') return undefined;
    } catch {
      // No server answers yet.
    }
    await delay(PAUSE_MS);
  }
  return undefined;
}
