import { requireAddress, termsFor } from '@strongroom/auth-sdk';
import { BadRequest, type EngineResponse, type Log } from '@strongroom/engine-sdk';
import type { Passwords } from './passwords.ts';
import type { User, Users } from './users.ts';

export interface LoginParts {
  readonly users: Users;
  readonly passwords: Passwords;
  readonly log: Log;
}

export interface LoginCall {
  /** Canonical. */
  readonly username: string;
  readonly password: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/**
 * @throws BadRequest for a wrong password and an unknown user alike, TokenRefused outside the user's addresses, TooManyRequests when too many passwords are
 * being checked
 */
export async function login({ users, passwords, log }: LoginParts, call: LoginCall): Promise<EngineResponse<never>> {
  const { username, remoteAddress } = call;
  if (call.password === '') throw new BadRequest('missing password');
  const user = await users.records.get(username);
  const { matches, stronger } = await passwords.check(user?.password, call.password, call.signal);
  if (!user || !matches) throw passwordRefused();
  requireAddress(user, remoteAddress);
  if (stronger) {
    await strengthen(users, username, user, stronger).catch((error: unknown) =>
      log.warn('the hash of a password could not be replaced by a stronger one', { username, error }),
    );
  }
  return {
    auth: {
      displayName: username,
      policies: user.token_policies,
      metadata: { username },
      alias: { name: username },
      terms: termsFor(user, remoteAddress),
      internal: { username, password_id: user.password_id },
      // Checking takes time, in which an operator may have deleted the user or written another password.
      consume: async (tx) => {
        if (!(await users.hasPassword(tx, username, user.password_id))) throw passwordRefused();
      },
    },
  };
}

/** Replaces the hash that was checked, unless somebody has written another password meanwhile. */
async function strengthen(users: Users, username: string, checked: User, stronger: User['password']): Promise<void> {
  await users.change(username, (stored) => (stored?.password_id === checked.password_id ? { ...stored, password: stronger } : undefined));
}

/** The same for a wrong password, an unknown user, and one who was deleted or got another password meanwhile. */
function passwordRefused(): BadRequest {
  return new BadRequest('invalid username or password');
}
