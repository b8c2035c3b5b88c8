import { StorageFailure } from '@strongroom/storage-sdk';
import type { Connections } from './connections.ts';
import { NAME } from './failure.ts';

/** What the driver uses in the database, as quoted identifiers, and the channel of its notifications. */
export interface Schema {
  readonly entries: string;
  readonly versions: string;
  readonly announcements: string;
  readonly channel: string;
  /** Begins a transaction whose commit is durable once answered. */
  readonly begin: string;
}

/**
 * Creates what is missing. Several processes may do so at once.
 * @throws StorageFailure
 */
export async function prepareSchema(connections: Connections, table: string): Promise<Schema> {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(table))
    throw new StorageFailure(NAME, 'the table name must be letters, digits and _, at most 40');
  const entries = `"${table}"`;
  const versions = `"${table}_version"`;
  const announcements = `"${table}_announced"`;
  try {
    const durable = await connections.use(async (query) => {
      const settings = await query<{ encoding: string; synchronous: string }>(
        "SELECT current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS synchronous",
      );
      const { encoding, synchronous } = settings.rows[0] as { encoding: string; synchronous: string };
      if (encoding !== 'UTF8') throw new StorageFailure(NAME, `the PostgreSQL database must have the encoding UTF8, not ${encoding}`);
      const present = await query<{ present: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AND to_regclass($3) IS NOT NULL AS present',
        [entries, versions, announcements],
      );
      if (present.rows[0]?.present) return synchronous !== 'off';
      await query('BEGIN');
      try {
        await query("SELECT pg_advisory_xact_lock(hashtextextended('strongroom ' || $1, 0))", [table]);
        await query(
          `CREATE TABLE IF NOT EXISTS ${entries} (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL)`,
        );
        await query(`CREATE SEQUENCE IF NOT EXISTS ${versions} AS bigint MAXVALUE ${Number.MAX_SAFE_INTEGER}`);
        await query(
          `CREATE TABLE IF NOT EXISTS ${announcements} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), origin text NOT NULL, keys text[] NOT NULL)`,
        );
        await query(`CREATE INDEX IF NOT EXISTS "${table}_announced_at" ON ${announcements} (at)`);
        await query('COMMIT');
      } catch (error) {
        await query('ROLLBACK').catch(() => undefined);
        throw error;
      }
      return synchronous !== 'off';
    });
    const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED';
    return { entries, versions, announcements, channel: table, begin: durable ? begin : `${begin}; SET LOCAL synchronous_commit TO on` };
  } catch (error) {
    throw connections.failure(error);
  }
}
