import assert from 'node:assert/strict';
import type { Credential, DatabaseSession, Statements } from '@strongroom/database-sdk';

/** What a plugin's own tests usually pass to the calls of a session. */
export interface UsualArguments {
  readonly password: string;
  /** A credential with that password. */
  readonly credential: Extract<Credential, { type: 'password' }>;
  /** 2031-02-03 04:05:06.789 UTC. */
  readonly expiresAt: Date;
  /** No statements. */
  readonly none: Statements;
  /** A signal that aborts after 30 s, so that a call that hangs ends. */
  signal(): AbortSignal;
}

const password = 'Abc-123456789012345';

/** The usual arguments. */
export const usual: UsualArguments = {
  password,
  credential: { type: 'password', password },
  expiresAt: new Date('2031-02-03T04:05:06.789Z'),
  none: { commands: [] },
  signal: () => AbortSignal.timeout(30_000),
};

/** Opens a session for `work` and closes it whatever happens. */
export async function withSession<T>(open: () => Promise<DatabaseSession>, work: (session: DatabaseSession) => Promise<T>): Promise<T> {
  const session = await open();
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Creates the user `aborted` with `commands`, aborts the call when `begun` resolves, and asserts that it rejects with the reason. */
export async function abortCreation(session: DatabaseSession, commands: readonly string[], begun: () => Promise<void>): Promise<void> {
  const { credential, expiresAt, none } = usual;
  const controller = new AbortController();
  const creating = session.createUser({
    username: 'aborted',
    credential,
    expiresAt,
    statements: { commands },
    rollback: none,
    signal: controller.signal,
  });
  await Promise.all([begun().then(() => controller.abort(new Error('deadline'))), assert.rejects(creating, { message: /deadline/ })]);
}

/**
 * Does all that a managing user has to do, in a session with `renewUser` and `listUsers`: verifies, creates the user `least` with `commands`, changes its password, moves its end, lists it, deletes
 * it, and changes the managing user's own password to the one it returns. Rejects with the first call that the database refuses.
 */
export async function doAllAsManager(session: DatabaseSession, manager: string, commands: readonly string[]): Promise<string> {
  const { credential, expiresAt, none, signal } = usual;
  const next = { type: 'password', password: 'Next-1234567890abcdef' } as const;
  await session.verify(signal());
  await session.createUser({ username: 'least', credential, expiresAt, statements: { commands }, rollback: none, signal: signal() });
  await session.updateUser({ username: 'least', credential: next, statements: none, signal: signal() });
  await session.renewUser!({ username: 'least', expiresAt, statements: none, signal: signal() });
  assert.deepEqual(await session.listUsers!({ prefix: 'leas', signal: signal() }), ['least']);
  await session.deleteUser({ username: 'least', statements: none, signal: signal() });
  await session.updateUser({ username: manager, credential: next, statements: none, signal: signal() });
  return next.password;
}
