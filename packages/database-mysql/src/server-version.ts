import type { Connection } from 'mysql2';
import { query } from './statement-run.ts';

/** Of the server, as it says it: `8.0.36`, `11.8.3-MariaDB-0+deb13u1`. */
export async function versionOf(connection: Connection): Promise<string> {
  const [row] = await query(connection, 'SELECT VERSION() AS version');
  return String(row?.['version']);
}

export function isMariadb(version: string): boolean {
  return /mariadb/i.test(version);
}

/** Whether a MySQL is at least this release. MariaDB counts in another way, and is none. */
export function isMysqlFrom(version: string, release: readonly [number, number, number]): boolean {
  if (isMariadb(version)) return false;
  const numbers = version.split(/[.-]/, 3).map(Number);
  for (const [place, first] of release.entries()) {
    const number = numbers[place] ?? 0;
    if (number !== first) return number > first;
  }
  return true;
}
