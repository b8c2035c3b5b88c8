import type { PostgresServer } from '@strongroom/lab';
import type { SnapshotStore } from './snapshot-kills.ts';

/**
 * A store in the database of a server. The table of a replacement that a killed server left is dropped by the next replacement, so at most one is there beside that of the
 * store.
 */
export function postgresStore(postgres: PostgresServer): SnapshotStore {
  const { superuser, password, port } = postgres;
  const url = `postgresql://${superuser}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`;
  return {
    storage: `"postgresql" { connection_url = "${url}" }`,
    leftovers: async () => {
      const tables = await postgres.query<{ name: string }>(
        "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname ~ '^strongroom_store_r[0-9a-f]{8}$' ORDER BY oid",
      );
      return tables.slice(2).map(({ name }) => name);
    },
  };
}
