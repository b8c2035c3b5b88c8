import type { DatabasePlugin } from '@strongroom/database-sdk';
import { ConnectionLost, VerificationFailed } from '@strongroom/database-sdk';
import { Type } from 'typebox';

const connection = Type.Object({
  host: Type.String({ minLength: 1 }),
  username: Type.String(),
  password: Type.String({ secret: true }),
});

/** A call that waits at its end until it is let go. */
export interface HeldCall {
  /** Resolves when the call has done its work. */
  readonly done: Promise<void>;
  letGo(): void;
}

/** A database in memory that takes its root user's password in earnest, and whose calls can be held after their work. */
export interface RootDatabase {
  readonly plugin: DatabasePlugin<typeof connection>;
  readonly passwords: Map<string, string>;
  /** Holds the next call of this kind. */
  hold(call: 'verify' | 'updateUser'): HeldCall;
  /** The next `updateUser` does its work, and its answer is lost; the database answers nothing until this is false again. */
  cutNext(): void;
  down: boolean;
}

export function rootDatabase(): RootDatabase {
  const passwords = new Map([['root', 'p0']]);
  const held = new Map<string, () => Promise<void>>();
  const passed = async (call: string): Promise<void> => {
    const wait = held.get(call);
    held.delete(call);
    await wait?.();
  };
  let cut = false;
  const database: RootDatabase = {
    passwords,
    down: false,
    cutNext: () => void (cut = true),
    hold: (call) => {
      let letGo!: () => void;
      let reached!: () => void;
      const gate = new Promise<void>((resolve) => (letGo = resolve));
      const done = new Promise<void>((resolve) => (reached = resolve));
      held.set(call, async () => {
        reached();
        await gate;
      });
      return { done, letGo };
    },
    plugin: {
      kind: 'database',
      name: 'root-database-plugin',
      version: '0.1.0',
      apiVersion: 2,
      connection,
      supports: { credentials: ['password'], expiry: 'lease-only', statements: 'json' },
      usernameTemplate: '{{ printf "v-%s-%s" .RoleName (random 20) }}',
      open: async ({ username, password }) => {
        const login = (): void => {
          if (database.down) throw new VerificationFailed('nobody answers');
          if (passwords.get(username) !== password) throw new VerificationFailed('bad password');
        };
        return {
          verify: async () => {
            login();
            await passed('verify');
          },
          createUser: async () => login(),
          updateUser: async ({ username: user, credential }) => {
            login();
            passwords.set(user, credential.type === 'password' ? credential.password : '');
            await passed('updateUser');
            if (!cut) return;
            cut = false;
            database.down = true;
            throw new ConnectionLost('cut');
          },
          deleteUser: async () => login(),
          close: async () => undefined,
        };
      },
    },
  };
  return database;
}
