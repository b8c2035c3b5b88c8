import { setTimeout as delay } from 'node:timers/promises';
import type { Connections } from './connections.ts';
import { codeOf } from './failure.ts';
import type { Query } from './query.ts';
import { INCARNATION, type IncarnationRow } from './session.ts';
import type { SentCommit } from './transaction.ts';

/** Longer than a transaction can stand still on the server. */
const LIMIT_MS = 10_000;
const PAUSE_MS = 200;
/** The SQLSTATE for a transaction number that has yet to be given. */
const INVALID_VALUE = '22023';

type CommitOutcome = 'committed' | 'aborted';

interface StatusRow extends IncarnationRow {
  /** Null for a transaction that is too old. */
  readonly status: CommitOutcome | 'in progress' | null;
}

/**
 * What became of a transaction whose connection was lost in its COMMIT. PostgreSQL keeps that for every transaction number, so nothing need be
 * written for it. Undefined where nobody can tell: no server answers in time, the one that does has another past, or it crashed meanwhile and the records are not
 * as they were written.
 */
export async function outcomeOfCommit(connections: Connections, commit: SentCommit, past: number): Promise<CommitOutcome | undefined> {
  const { history } = connections;
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end) {
    try {
      const status = await connections.use(async ({ query }) => statusOf(commit, query));
      // On another server the number may be another transaction's.
      if (history.past !== past || (!history.known && connections.severalHosts)) return undefined;
      if (status !== 'in progress') return status;
    } catch {
      // No server answers yet.
    }
    await delay(PAUSE_MS);
  }
  return undefined;
}

async function statusOf(commit: SentCommit, query: Query): Promise<CommitOutcome | 'in progress' | undefined> {
  try {
    const { rows } = await query<StatusRow>(`SELECT txid_status($1::bigint) AS status, ${INCARNATION}`, [commit.txid]);
    const [{ status, incarnation }] = rows as [StatusRow];
    if (status === 'committed' && incarnation !== commit.incarnation) return (await isThere(commit, query)) ? status : undefined;
    return status ?? undefined;
  } catch (error) {
    // The server has crashed, and no trace of the transaction was left.
    if (codeOf(error) === INVALID_VALUE) return 'aborted';
    throw error;
  }
}

interface WrittenRow {
  readonly key: string;
  readonly value: Buffer;
  readonly xmin: string;
}

/** Whether the records are as the transaction left them. After a crash, one that has its number may be another: the server gives the numbers of those that it undid again. */
async function isThere({ txid, entries, written }: SentCommit, query: Query): Promise<boolean> {
  const { rows } = await query<WrittenRow>(`SELECT key, value, xmin::text AS xmin FROM ${entries} WHERE key = ANY($1::text[])`, [
    [...written.keys()],
  ]);
  const found = new Map(rows.map((row) => [row.key, row]));
  const xmin = String(BigInt.asUintN(32, BigInt(txid)));
  const puts = [...written].filter(([, value]) => value !== undefined);
  // That a record is gone does not tell who removed it.
  if (puts.length === 0) return written.size === 0;
  return (
    found.size === puts.length &&
    puts.every(([key, value]) => {
      const row = found.get(key);
      return row?.xmin === xmin && row.value.equals(value!);
    })
  );
}
