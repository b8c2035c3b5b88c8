import { DatabaseFailed, DatabaseMisused, detailOf } from './call-failed.ts';
import type { GuardedSession } from './guarded-session.ts';

/**
 * Takes a user away. One that cannot be removed loses its login at least, as far as the plugin can: a role's own statements may do anything, so before them;
 * the plugin's own way is tried first, since it nearly always removes the user. An absent user is success. @throws DatabaseFailed, DatabaseMisused
 */
export async function removeUser(
  session: GuardedSession,
  username: string,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const request = { username, statements: { commands }, signal };
  if (commands.length > 0) {
    const disabled = await disable(session, username, signal);
    try {
      return await session.deleteUser(request);
    } catch (error) {
      throw withLoginState(error, disabled);
    }
  }
  try {
    return await session.deleteUser(request);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw withLoginState(error, await disable(session, username, signal));
  }
}

/** What is said of the login beside the reason why the user is still there; undefined where there is nothing to say. Throws for no answer alone. */
async function disable(session: GuardedSession, username: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await session.disableUser({ username, signal })) ? 'the user stays, but its login was taken away' : undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return `its login could not be taken away either: ${detailOf(error)}`;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseMisused || (error instanceof DatabaseFailed && error.outcome === 'refused');
}

function withLoginState(error: unknown, login: string | undefined): unknown {
  if (login === undefined || !isRefusal(error)) return error;
  // First what there is room for in the list of leases.
  const text = `${login}; ${detailOf(error)}`;
  if (error instanceof DatabaseMisused) return new DatabaseMisused(text);
  const failed = error as DatabaseFailed;
  return new DatabaseFailed(failed.connection, text, failed.outcome, { answered: failed.answered, login: failed.login });
}
