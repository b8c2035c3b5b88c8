import type { PostgresServer } from '@strongroom/lab';
import pg from 'pg';
import { requestText } from './http-connection.ts';
import { load, type Figures, type Operation, type Target } from './load.ts';
import { MOUNTS } from './mounts.ts';

/** Static roles that fall due in the same second. */
const STATIC_ROLES = 1_000;
/** Connections over which credentials are asked for while they are rotated. */
const BORROWERS = 4;
/** What defining the roles may take at least, in milliseconds: each gets a first password. */
const TO_DEFINE = 45_000;
const LONGEST = 300_000;

export interface RotationFigures {
  readonly count: number;
  /** From when they were due until PostgreSQL had the last of the new passwords. */
  readonly seconds: number;
  /** Of `create`, all the while. */
  readonly meanwhile: Figures;
  readonly borrowers: number;
}

/**
 * Roles whose schedule names the same minute, once a day, while `create` goes on. PostgreSQL is asked until no user has the password any more
 * that the definition of its role gave it.
 */
export async function rotationsTogether(target: Target, postgres: PostgresServer, create: Operation): Promise<RotationFigures> {
  await postgres.query(Array.from({ length: STATIC_ROLES }, (_, i) => `CREATE ROLE due${i} LOGIN`).join(';'));
  const due = Math.ceil((Date.now() + TO_DEFINE) / 60_000) * 60_000;
  await defineRoles(target, new Date(due));
  await postgres.query(`CREATE TABLE first_passwords AS SELECT rolname, rolpassword FROM pg_authid WHERE rolname ~ '^due[0-9]+$'`);
  if (Date.now() > due) throw new Error('the static roles were not defined before they were due');
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    if ((await unrotated(client)) !== STATIC_ROLES) throw new Error('not every static role has a password before it is due');
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
    let seconds: number | undefined;
    const borrowing = load('pg creds due', target, create, { connections: BORROWERS, while: () => seconds === undefined });
    const [meanwhile] = await Promise.all([borrowing, allRotated(client, due).finally(() => (seconds = (Date.now() - due) / 1_000))]);
    return { count: STATIC_ROLES, seconds: seconds ?? Infinity, meanwhile, borrowers: BORROWERS };
  } finally {
    await client.end();
  }
}

async function defineRoles(target: Target, due: Date): Promise<void> {
  const rotation_schedule = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  let defined = 0;
  const define: Operation = async (connection) => {
    const username = `due${(defined += 1) - 1}`;
    const role = JSON.stringify({ db_name: 'pg', username, rotation_schedule });
    const answer = await connection.send(requestText('POST', `/v1/${MOUNTS.database}/static-roles/${username}`, target.token, role));
    if (answer.status !== 204) throw new Error(`${username}: ${answer.status} ${answer.body.slice(0, 300)}`);
  };
  await load('define', target, define, { count: STATIC_ROLES });
}

async function allRotated(client: pg.Client, due: number): Promise<void> {
  while ((await unrotated(client)) > 0) {
    if (Date.now() - due > LONGEST) throw new Error('static roles are still not rotated five minutes after they were due');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function unrotated(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ left: number }>(
    'SELECT count(*)::int AS left FROM pg_authid JOIN first_passwords USING (rolname, rolpassword)',
  );
  return rows[0]!.left;
}
