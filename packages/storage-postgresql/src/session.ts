import type { QueryResult, QueryResultRow } from 'pg';
import { StorageFailure } from '@strongroom/storage-sdk';
import type { Query } from './query.ts';
import { codeOf, NAME } from './failure.ts';

/** Time limits of every session, in milliseconds, by the name of the setting: a process that stands still holds others up for no longer. */
export const LIMITS = {
  idle_in_transaction_session_timeout: 5_000,
  lock_timeout: 5_000,
  statement_timeout: 15_000,
} as const;

/** What a session is of. Two servers with the same system identifier and timeline have the same past. */
export interface Identity {
  readonly system: string;
  readonly timeline: number;
}

export interface Session {
  readonly standby: boolean;
  /** Whether it takes writes: no standby, and not set to read-only. */
  readonly writable: boolean;
  /** Whether commits wait for a standby, as far as is known: that can be changed while the session lasts. */
  readonly synchronous: boolean;
  /** Undefined for a standby, and where PostgreSQL does not tell this user. */
  readonly identity: Identity | undefined;
  readonly incarnation: string;
}

/** The first 8 hexadecimal digits of a segment of the log are its timeline. (`pg_control_checkpoint()` shows the old one until the next checkpoint.) */
export const IDENTITY = `(SELECT system_identifier::text FROM pg_control_system()) AS system,
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`;
/**
 * As text, another one after each crash of the server: PostgreSQL throws its statistics away where it has to recover, and keeps them over a restart in order. The
 * numbers of transactions that a crash undid are given again.
 */
export const INCARNATION = `(SELECT extract(epoch FROM stats_reset)::text FROM pg_stat_bgwriter) AS incarnation`;
const SET_LIMITS = Object.entries(LIMITS)
  .map(([name, ms]) => `SET ${name} TO ${ms}`)
  .join('; ');
const NOT_TOLD = new Set(['42501', '42883', '0A000', '55000']);

export interface IdentityRow {
  readonly system: string | null;
  readonly timeline: string | null;
}

/** Milliseconds of each limit, as the session has it, in columns of those names. */
const READ_LIMITS = Object.keys(LIMITS)
  .map((name) => `(SELECT setting FROM pg_settings WHERE name = '${name}')::int AS ${name}`)
  .join(', ');

const STATE = `pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only,
  current_setting('synchronous_standby_names') AS synchronous, ${INCARNATION}`;

export interface IncarnationRow {
  readonly incarnation: string;
}

interface StateRow extends IncarnationRow {
  readonly standby: boolean;
  readonly read_only: string;
  readonly synchronous: string;
}

type LimitsRow = Record<keyof typeof LIMITS, number>;

/**
 * Sets the time limits of a new connection, reads them back, and finds out what it is connected to. The first message does all of that, so that a
 * pooler, which may give the next one to another session, names the session that was set.
 * @throws StorageFailure where the limits are not in force
 */
export async function beginSession(query: Query): Promise<Session> {
  const { rows } = lastOf(await query<LimitsRow & StateRow>(`${SET_LIMITS}; SELECT ${READ_LIMITS}, ${STATE}`));
  const [row] = rows as [LimitsRow & StateRow];
  requireLimits(row, LIMITS);
  const { standby, incarnation } = row;
  const writable = !standby && row.read_only === 'off';
  const synchronous = row.synchronous.trim() !== '';
  return { standby, writable, synchronous, identity: standby ? undefined : await identityOf(query), incarnation };
}

/** @throws StorageFailure unless a transaction that began just now has the limits that it should have */
export async function checkLimits(query: Query, expected: Readonly<Record<keyof typeof LIMITS, number>>): Promise<void> {
  const { rows } = await query<LimitsRow>(`SELECT ${READ_LIMITS}`);
  requireLimits(rows[0], expected);
}

function requireLimits(row: LimitsRow | undefined, expected: Readonly<Record<keyof typeof LIMITS, number>>): void {
  const names = Object.keys(expected) as (keyof typeof LIMITS)[];
  const wrong = names.filter((name) => row?.[name] !== expected[name]);
  if (wrong.length === 0) return;
  const shown = wrong.map((name) => `${name} is ${row?.[name]} ms and not ${expected[name]} ms`).join(', ');
  throw new StorageFailure(NAME, `the time limits that the driver sets are not in force: ${shown}. Does a pooler drop settings?`);
}

/** Of a text with several statements `pg` gives an array of results, whatever its types say. */
export function lastOf<Row extends QueryResultRow>(result: QueryResult<Row>): QueryResult<Row> {
  return (Array.isArray(result) ? result.at(-1) : result) as QueryResult<Row>;
}

async function identityOf(query: Query): Promise<Identity | undefined> {
  try {
    return readIdentity((await query<IdentityRow>(`SELECT ${IDENTITY}`)).rows[0]);
  } catch (error) {
    // Some hosted services keep these functions to themselves.
    if (NOT_TOLD.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

export function readIdentity(row: IdentityRow | undefined): Identity | undefined {
  return row?.system && row.timeline ? { system: row.system, timeline: Number.parseInt(row.timeline, 16) } : undefined;
}
