import { useSyncExternalStore } from 'react';
import { queryClient } from '../api/queries.ts';
import { send } from '../api/send.ts';
import { token } from '../api/token.ts';

export interface Session {
  readonly token: string | undefined;
}

/** Who is logged in, as pages see it. */
export function useSession(): Session {
  const held = useSyncExternalStore(token.subscribe, token.current);
  return { token: held };
}

/** Begins a session with a token that the server has accepted. */
export function beginSession(value: string): void {
  queryClient.clear();
  token.set(value);
}

/** Ends the session: the token is revoked, and everything that was read is forgotten. */
export async function endSession(value: string | undefined): Promise<void> {
  token.set(undefined);
  queryClient.clear();
  if (value !== undefined) await send('POST', 'auth/token/revoke-self', { token: value }).catch(() => undefined);
  location.assign('/ui/login');
}
