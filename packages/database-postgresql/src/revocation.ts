import { Attempts, type Removal } from '@strongroom/database-knex';
import type { Client } from 'pg';
import { answers } from './server-error.ts';
import { runTogether } from './transaction.ts';

/**
 * One row per kind of thing on which the role holds privileges in this database (or on shared objects), each with the statement that revokes
 * them all; a single row with null if there are none; no row if there is no such role. Dependencies are indexed by role, so the cost does not
 * grow with the number of tables, and objects in any schema are found.
 */
const HELD_PRIVILEGES = `
WITH role AS (SELECT oid, rolname FROM pg_catalog.pg_roles WHERE rolname = $1::name),
held AS (
  SELECT d.classid, d.objid, o.type, o.identity
  FROM role, pg_catalog.pg_shdepend d, LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, 0) o
  WHERE d.refclassid = 'pg_catalog.pg_authid'::regclass AND d.refobjid = role.oid AND d.deptype = 'a'
    AND d.dbid IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()))
),
kinds AS (
  SELECT CASE
    WHEN type IN ('table', 'view', 'materialized view', 'foreign table', 'partitioned table') THEN 'TABLE'
    WHEN type IN ('function', 'procedure', 'aggregate') THEN 'ROUTINE'
    WHEN type = 'server' THEN 'FOREIGN SERVER'
    WHEN type IN ('sequence', 'schema', 'database', 'type', 'domain', 'language', 'foreign-data wrapper', 'large object', 'tablespace')
      THEN pg_catalog.upper(pg_catalog.replace(type, '-', ' '))
  END AS kind, identity FROM held
),
revokes AS (
  SELECT pg_catalog.format('REVOKE ALL PRIVILEGES ON %s %s FROM %I', kind, pg_catalog.string_agg(DISTINCT identity, ', '), (SELECT rolname FROM role)) AS statement
  FROM kinds WHERE kind IS NOT NULL GROUP BY kind
  UNION ALL
  SELECT pg_catalog.format('ALTER DEFAULT PRIVILEGES FOR ROLE %I%s REVOKE ALL PRIVILEGES ON %s FROM %I',
    pg_catalog.pg_get_userbyid(a.defaclrole),
    CASE WHEN n.oid IS NULL THEN '' ELSE pg_catalog.format(' IN SCHEMA %I', n.nspname) END,
    CASE a.defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'ROUTINES' WHEN 'T' THEN 'TYPES' ELSE 'SCHEMAS' END,
    (SELECT rolname FROM role))
  FROM held JOIN pg_catalog.pg_default_acl a ON held.classid = 'pg_catalog.pg_default_acl'::regclass AND held.objid = a.oid
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = a.defaclnamespace
)
SELECT role.rolname AS name, pg_catalog.pg_has_role(role.oid, 'USAGE') AS member, revokes.statement FROM role LEFT JOIN revokes ON true`;

const TAKE_LOGIN = `
SELECT pg_catalog.format('ALTER ROLE %I NOLOGIN VALID UNTIL ''-infinity''', rolname) AS statement FROM pg_catalog.pg_roles WHERE rolname = $1::name`;
const END_SESSIONS = `
SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE usename = $1::name AND pid <> pg_catalog.pg_backend_pid()`;

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The role is there, and no longer logs in; its sessions end. It is over for ever, which tells it from roles that never were users. An absent role is success. */
export async function takeLogin(client: Client, username: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(TAKE_LOGIN, [username]);
  if (!rows[0]) return;
  await runTogether(client, [rows[0].statement]);
  await client.query(END_SESSIONS, [username]);
}

/** Ends the sessions of a role: a statement without parameters, to be sent with others. */
function endingSessions(client: Client, name: string): string {
  return `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE usename = ${client.escapeLiteral(name)} AND pid <> pg_catalog.pg_backend_pid()`;
}

/** What comes of what the role owns in this database. To touch it, the managing user must be a member of the role. */
function disowning(name: string, isMember: boolean, owned: Removal['ownedObjects']): string[] {
  if (owned !== 'reassign' && owned !== 'drop') return [];
  const role = identifier(name);
  const joining = isMember ? [] : [`GRANT ${role} TO CURRENT_USER`];
  return [...joining, owned === 'drop' ? `DROP OWNED BY ${role}` : `REASSIGN OWNED BY ${role} TO CURRENT_USER`];
}

/**
 * Takes a role's privileges away and drops it; an absent role is success. Usually one transaction. If that fails, every revocation is tried by
 * itself, so that as much as possible is gone, and the role is dropped only if all of them succeeded.
 */
export async function revokeAndDrop(client: Client, username: string, { endSessions, ownedObjects }: Removal = {}): Promise<void> {
  const { rows } = await client.query<{ name: string; member: boolean; statement: string | null }>(HELD_PRIVILEGES, [username]);
  if (!rows[0]) return;
  const { name, member } = rows[0];
  // As far as the managing user may: one of few rights still removes the role.
  if (endSessions) await answers.tolerate(runTogether(client, [`ALTER ROLE ${identifier(name)} NOLOGIN VALID UNTIL '-infinity'`]));
  const ending = endSessions ? [endingSessions(client, name)] : [];
  const revokes = rows.flatMap(({ statement }) => statement ?? []);
  const drop = [...disowning(name, member, ownedObjects), `DROP ROLE IF EXISTS ${identifier(name)}`];
  try {
    return await runTogether(client, [...ending, ...revokes, ...drop]);
  } catch (error) {
    if (answers.isLost(error) || ending.length + revokes.length === 0) throw error;
  }
  if (endSessions) await answers.tolerate(runTogether(client, ending));
  const attempts = new Attempts(answers);
  for (const statement of revokes) await attempts.try(runTogether(client, [statement]));
  attempts.check('could not perform all revocation statements');
  await runTogether(client, drop);
}
