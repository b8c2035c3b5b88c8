import type { Credential, DatabasePlugin, DatabaseSession } from '@strongroom/database-sdk';
import { Type } from 'typebox';

const connection = Type.Object({
  host: Type.String({ minLength: 1 }),
  username: Type.Optional(Type.String()),
  password: Type.Optional(Type.String({ secret: true })),
});

/** A database in memory, whose next call can be made to go wrong. */
export interface FaultyDatabase {
  readonly plugin: DatabasePlugin<typeof connection>;
  readonly users: Set<string>;
  /** What `updateUser` installed, by user. */
  readonly credentials: Map<string, Credential>;
  /** What the next `createUser` does instead of its work. */
  next: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** What the next `deleteUser` does before its work. */
  nextDelete: (() => Promise<void>) | undefined;
  /** What the next `open` does before its work. */
  nextOpen: (() => void) | undefined;
  opened: number;
  closed: number;
}

export function faultyDatabase(name = 'faulty-database-plugin'): FaultyDatabase {
  const database: FaultyDatabase = {
    users: new Set(),
    credentials: new Map(),
    next: undefined,
    nextDelete: undefined,
    nextOpen: undefined,
    opened: 0,
    closed: 0,
    plugin: {
      kind: 'database',
      name,
      version: '0.1.0',
      apiVersion: 2,
      connection,
      supports: { credentials: ['password', 'rsa_private_key'], expiry: 'lease-only', statements: 'json' },
      usernameTemplate: '{{ printf "v-%s-%s" .RoleName (random 20) }}',
      open: async () => {
        const { nextOpen } = database;
        database.nextOpen = undefined;
        nextOpen?.();
        database.opened += 1;
        return session();
      },
    },
  };
  const session = (): DatabaseSession => ({
    verify: async () => undefined,
    createUser: async ({ username, signal }) => {
      const { next } = database;
      database.next = undefined;
      if (next) await next(signal);
      database.users.add(username);
    },
    updateUser: async ({ username, credential }) => void database.credentials.set(username, credential),
    deleteUser: async ({ username }) => {
      const { nextDelete } = database;
      database.nextDelete = undefined;
      await nextDelete?.();
      database.users.delete(username);
    },
    close: async () => void (database.closed += 1),
  });
  return database;
}
