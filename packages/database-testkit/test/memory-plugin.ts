// eslint-disable-next-line no-restricted-syntax -- a statement that hangs is aborted: nobody waits this long
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import {
  abortable,
  type Credential,
  CredentialUnsupported,
  type DatabasePlugin,
  type DatabaseSession,
  postgresqlDialect,
  renderStatements,
  SessionClosed,
  StatementFailed,
  StatementInvalid,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { Type } from 'typebox';

const Connection = Type.Object({
  username: Type.Optional(Type.String({ default: 'root' })),
  password: Type.Optional(Type.String({ secret: true })),
});

/** A database of nothing but users, which knows `ADD "name" 'password'` and `WAIT`. */
export class MemoryDatabase {
  readonly rootPassword = 'memory-root-pw';
  readonly users = new Map<string, string>();

  execute(statement: string): void {
    const match = /^ADD "((?:""|[^"])*)" '((?:''|[^'])*)'$/.exec(statement);
    if (!match) throw new StatementFailed(`unknown statement`);
    this.users.set(match[1]!.replaceAll('""', '"'), match[2]!.replaceAll("''", "'"));
  }

  login(username: string, password: string): void {
    if (this.users.get(username) !== password) throw new Error('refused');
  }
}

export type MemoryPlugin = DatabasePlugin<typeof Connection>;

/** A plugin that keeps every promise. `broken` changes its sessions, to see whether the contract notices. */
export function memoryPlugin(
  database: MemoryDatabase,
  broken: (session: DatabaseSession) => Partial<DatabaseSession> = () => ({}),
): MemoryPlugin {
  return {
    kind: 'database',
    name: 'memory-database-plugin',
    version: '1.0.0',
    apiVersion: 2,
    connection: Connection,
    supports: { credentials: ['password'], expiry: 'lease-only', statements: 'sql' },
    usernameTemplate: '{{ printf "v-%s-%s" (.RoleName | truncate 8) (random 20) | truncate 32 }}',
    usernameMaxLength: 32,
    preview: ({ username, statements, credential }) => creationOf(username, credential, statements.commands),
    async open(config) {
      const session = openMemory(database, config.password);
      return { ...session, ...broken(session) };
    },
  };
}

function creationOf(username: string, credential: Credential, commands: readonly string[]): string[] {
  if (credential.type !== 'password') throw new CredentialUnsupported('memory-database-plugin', credential.type);
  const creation = renderStatements(commands, { name: username, username, password: credential.password }, postgresqlDialect);
  if (creation.length === 0) throw new StatementInvalid('empty creation statements');
  return creation;
}

function openMemory(database: MemoryDatabase, password: string | undefined): DatabaseSession {
  let closed = false;
  let connected = false;
  let working = 0;
  const ready = (signal: AbortSignal): void => {
    if (closed) throw new SessionClosed();
    signal.throwIfAborted();
  };
  return {
    async verify(signal) {
      ready(signal);
      if (password !== database.rootPassword) throw new VerificationFailed('refused');
      connected = true;
    },
    async createUser({ username, credential, statements, rollback, signal }) {
      ready(signal);
      const creation = creationOf(username, credential, statements.commands);
      const before = new Map(database.users);
      working++;
      try {
        await nextTurn();
        for (const statement of creation) {
          if (statement === 'WAIT') await abortable(signal, delay(30_000, undefined, { ref: false }));
          else database.execute(statement);
        }
      } catch (error) {
        if (!before.has(username)) database.users.delete(username);
        for (const statement of rollback.commands.length > 0 ? creationOf(username, credential, rollback.commands) : []) {
          try {
            database.execute(statement);
          } catch {
            // As far as it goes.
          }
        }
        throw error;
      } finally {
        working--;
      }
    },
    async updateUser({ username, credential, statements, signal }) {
      ready(signal);
      if (statements.commands.length > 0) throw new StatementFailed('unknown statement');
      if (!database.users.has(username)) throw new StatementFailed('no such user');
      if (credential.type === 'password') database.users.set(username, credential.password);
    },
    async deleteUser({ username, signal }) {
      ready(signal);
      database.users.delete(username);
    },
    async listUsers({ prefix, signal }) {
      ready(signal);
      return [...database.users.keys()].filter((name) => name.startsWith(prefix));
    },
    pool: () => ({ open: connected ? 1 : 0, idle: connected && working === 0 ? 1 : 0, waiting: Math.max(0, working - 1), limit: 1 }),
    async close() {
      closed = true;
    },
  };
}
