import { retire, retry } from '@strongroom/database-knex';
import type { Client, QueryResult } from 'pg';
import { isCollision } from './server-error.ts';

const COLLISIONS = { attempts: 15, delayMs: (attempt: number): number => Math.random() * Math.min(50, 2 ** attempt) };

/** Privileges on a thing, as opposed to membership in a role: sessions that change those of one thing at a time fail unless they take turns. */
const CHANGES_PRIVILEGES = /\b(?:GRANT|REVOKE)\b[^;]*?\bON\b/i;

/** Held to the end of the transaction, and known to every process of ours that works on this database. */
const TAKE_TURNS = 'SELECT pg_catalog.pg_advisory_xact_lock(1937013860, 1)';

/**
 * Runs statements all or nothing, in one round trip: what is sent in one simple query is one transaction. Those that change privileges take
 * turns; a collision with another session all the same is tried again. If a statement changes settings of the session, the connection is not
 * given to anybody else.
 */
export async function runTogether(client: Client, statements: readonly string[]): Promise<void> {
  if (statements.length === 0) return;
  const turns = statements.some((statement) => CHANGES_PRIVILEGES.test(statement));
  const mayRepeat = (error: unknown): boolean => isCollision(error) && client.getTransactionStatus() === 'I';
  const answer = await retry({ ...COLLISIONS, mayRepeat }, async (attempt) =>
    // On a line of its own the separator is not swallowed by a comment.
    client.query((turns || attempt > 1 ? [TAKE_TURNS, ...statements] : statements).join('\n;\n')),
  );
  const results = [answer as QueryResult | QueryResult[]].flat();
  if (results.some(({ command }) => command === 'SET' || command === 'RESET')) retire(client);
}
