import { present } from '@strongroom/rotation';
import { DatabaseFailed, DatabaseMisused, detailOf } from './call-failed.ts';
import type { GuardedSession } from './guarded-session.ts';
import type { Removal } from './records.ts';

/** How a record says that its user is removed, to be kept with the user. */
export function removalOf({ revocation_statements, end_sessions, on_owned_objects }: Removal): Removal {
  return { revocation_statements, ...present({ end_sessions, on_owned_objects }) };
}

/**
 * Takes a user away. One that cannot be removed loses its login at least, as far as the plugin can: a role's own statements may do anything, so before them;
 * the plugin's own way is tried first, since it shuts the login itself where `end_sessions` says so, and nearly always removes the user. An absent user is success. @throws DatabaseFailed, DatabaseMisused
 */
export async function removeUser(
  session: GuardedSession,
  username: string,
  { revocation_statements: commands, end_sessions: endSessions, on_owned_objects: ownedObjects }: Removal,
  signal: AbortSignal,
): Promise<void> {
  const request = { username, statements: { commands }, signal, ...present({ endSessions, ownedObjects }) };
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
