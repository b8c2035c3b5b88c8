import { renderJsonStatement, StatementInvalid } from '@strongroom/database-sdk';
import type { WriteConcern } from './write-concern.ts';

/** A database command and where to run it. */
export interface Command {
  readonly db: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const DEFAULT_DB = 'admin';
/** What of `createUser` a creation statement may say beside `db` and `roles`. */
const OPTIONAL = ['customData', 'authenticationRestrictions', 'mechanisms'];

/**
 * The command of a creation statement, `{ "db": "admin", "roles": ["readWrite", { "role": "read", "db": "app" }] }`. `{{name}}` and `{{username}}` in
 * its strings are the user, inserted after parsing, so that a name cannot become structure. Throws StatementInvalid.
 */
export function createUserCommand(commands: readonly string[], username: string, password: string, writeConcern?: WriteConcern): Command {
  const statement = parse('creation', commands, username, ['db', 'roles', ...OPTIONAL]);
  if (!statement) throw new StatementInvalid('empty creation statements');
  const { db, roles, ...optional } = statement;
  if (!Array.isArray(roles)) throw new StatementInvalid('roles array is required in creation statement');
  const body = { createUser: username, pwd: password, roles: roles.map(checkRole), ...optional, ...withConcern(writeConcern) };
  return { db: checkDb(db) ?? DEFAULT_DB, body };
}

/** The user's database is what a rotation statement `{ "db": "…" }` says, or else where the managing user itself logs in. */
export function updateUserCommand(
  commands: readonly string[],
  username: string,
  password: string,
  ownDb: string,
  writeConcern?: WriteConcern,
): Command {
  return { db: rotationDb(commands, username) ?? ownDb, body: { updateUser: username, pwd: password, ...withConcern(writeConcern) } };
}

/** The database that a rotation statement names; undefined where none does. */
export function rotationDb(commands: readonly string[], username: string): string | undefined {
  return checkDb(parse('rotation', commands, username, ['db'])?.['db']);
}

export function dropUserCommand(db: string, username: string, writeConcern?: WriteConcern): Command {
  return { db, body: { dropUser: username, writeConcern: writeConcern ?? { w: 'majority' } } };
}

/** The database that a revocation statement, `{ "db": "app" }`, names; undefined where there is none. */
export function revocationDb(commands: readonly string[], username: string): string | undefined {
  const statement = parse('revocation', commands, username, ['db', 'roles', ...OPTIONAL]);
  return statement && (checkDb(statement['db']) ?? DEFAULT_DB);
}

/** A command as one types it to `mongosh`. */
export function commandText({ db, body }: Command): string {
  return `db.getSiblingDB(${JSON.stringify(db)}).runCommand(${JSON.stringify(body)})`;
}

function parse(
  kind: string,
  commands: readonly string[],
  username: string,
  allowed: readonly string[],
): Record<string, unknown> | undefined {
  const statements = commands.filter((command) => command.trim() !== '');
  const [statement] = statements;
  if (statement === undefined) return undefined;
  if (statements.length > 1) throw new StatementInvalid(`one ${kind} statement is expected, but there are ${statements.length}`);
  const parsed = renderJsonStatement(statement, { name: username, username });
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw new StatementInvalid(
      `a ${kind} statement must be a JSON object, such as { "db": "admin"${kind === 'creation' ? ', "roles": []' : ''} }`,
    );
  }
  const unknown = Object.keys(parsed).find((key) => !allowed.includes(key));
  if (unknown !== undefined) throw new StatementInvalid(`a ${kind} statement cannot have "${unknown}"; it can have ${allowed.join(', ')}`);
  return parsed as Record<string, unknown>;
}

function checkDb(db: unknown): string | undefined {
  if (db === undefined || db === '') return undefined;
  if (typeof db === 'string' && !/[\0/\\. "]/.test(db)) return db;
  throw new StatementInvalid('db in a statement must be the name of a database');
}

/** A name is a role of the user's own database; a database may be given with it. */
function checkRole(role: unknown): unknown {
  if (typeof role === 'string') return role;
  if (role !== null && typeof role === 'object' && 'role' in role && typeof role.role === 'string') {
    const { role: name, db, ...unknown } = role as Record<string, unknown>;
    if (Object.keys(unknown).length === 0 && (db === undefined || typeof db === 'string')) return db ? { role: name, db } : name;
  }
  throw new StatementInvalid('roles in a creation statement must be names or { "role": "…", "db": "…" }');
}

function withConcern(writeConcern: WriteConcern | undefined): { writeConcern?: WriteConcern } {
  return writeConcern ? { writeConcern } : {};
}
