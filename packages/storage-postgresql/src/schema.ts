import { StorageFailure } from '@strongroom/storage-sdk';
import type { Connections } from './connections.ts';
import { NAME } from './failure.ts';
import type { Query } from './query.ts';

/** What the driver uses in the database, as quoted identifiers, and the channel of its notifications. */
export interface Schema {
  /** As it was chosen, without quotes. */
  readonly table: string;
  /** Another one once a replacement of the store is installed. */
  entries: string;
  readonly versions: string;
  readonly notifications: string;
  /** One row: the history that the store is in, up to which transaction notifications were removed, and the table of the entries where that is another. */
  readonly state: string;
  readonly channel: string;
}

/**
 * Creates what is missing. Several processes may do so at once.
 * @throws StorageFailure
 */
export async function prepareSchema(connections: Connections, table: string): Promise<Schema> {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(table))
    throw new StorageFailure(NAME, 'the table name must be letters, digits and _, at most 40');
  const first = `"${table}"`;
  const versions = `"${table}_version"`;
  const notifications = `"${table}_announced"`;
  const state = `"${table}_state"`;
  try {
    const entries = await connections.use(async ({ query }) => {
      const settings = await query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
      const [{ encoding }] = settings.rows as [{ encoding: string }];
      if (encoding !== 'UTF8') throw new StorageFailure(NAME, `the PostgreSQL database must have the encoding UTF8, not ${encoding}`);
      const present = await query<{ present: boolean }>(
        `SELECT bool_and(to_regclass(name) IS NOT NULL)
           AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($2) AND attname = 'entries') AS present FROM unnest($1::text[]) AS name`,
        [[versions, notifications, state], state],
      );
      if (present.rows[0]?.present) {
        const entries = await entriesOf(query, state, first);
        const { rows } = await query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [entries]);
        if (rows[0]?.found) return entries;
        if (entries !== first) throw new StorageFailure(NAME, `the table ${entries} is missing, which ${state} names`);
      }
      await query('BEGIN');
      try {
        await query("SELECT pg_advisory_xact_lock(hashtextextended('strongroom ' || $1, 0))", [table]);
        await query(
          `CREATE TABLE IF NOT EXISTS ${first} (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL)`,
        );
        await query(`CREATE SEQUENCE IF NOT EXISTS ${versions} AS bigint MAXVALUE ${Number.MAX_SAFE_INTEGER}`);
        await query(
          `CREATE TABLE IF NOT EXISTS ${notifications} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), origin text NOT NULL, keys text[] NOT NULL)`,
        );
        await query(`CREATE INDEX IF NOT EXISTS "${table}_announced_at" ON ${notifications} (at)`);
        // Stores of 0.1.0 before failovers were noticed lack what follows.
        await query(`ALTER TABLE ${notifications} ADD COLUMN IF NOT EXISTS txid bigint NOT NULL DEFAULT txid_current()`);
        await query(`CREATE INDEX IF NOT EXISTS "${table}_announced_txid" ON ${notifications} (txid)`);
        await query(
          `CREATE TABLE IF NOT EXISTS ${state} (one boolean PRIMARY KEY CHECK (one), system text NOT NULL, timeline bigint NOT NULL, pruned bigint NOT NULL DEFAULT 0)`,
        );
        await query(`INSERT INTO ${state} (one, system, timeline) VALUES (true, '', 0) ON CONFLICT DO NOTHING`);
        await query(`ALTER TABLE ${state} ADD COLUMN IF NOT EXISTS entries text`);
        await query('COMMIT');
      } catch (error) {
        await query('ROLLBACK').catch(() => undefined);
        throw error;
      }
      return await entriesOf(query, state, first);
    });
    return { table, entries, versions, notifications, state, channel: table };
  } catch (error) {
    throw connections.failure(error);
  }
}

/** The table that has the entries now, as a quoted identifier. */
async function entriesOf(query: Query, state: string, first: string): Promise<string> {
  const { rows } = await query<{ entries: string | null }>(`SELECT entries FROM ${state}`);
  return rows[0]?.entries ? `"${rows[0].entries}"` : first;
}
