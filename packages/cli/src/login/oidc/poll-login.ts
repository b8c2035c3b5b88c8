import { ApiFailure } from '../../failure.ts';
import type { Secret } from '../../secret.ts';
import type { LoginCall } from '../login-method.ts';
import { untilInterrupted } from './until-interrupted.ts';

/** A login that the server completes by itself. */
export interface PolledLogin {
  readonly mount: string;
  readonly state: string;
  readonly clientNonce: string;
  /** Seconds between two questions. */
  readonly seconds: number;
}

/** Asks the server until the login is complete, or has failed: it forgets it after a few minutes. */
export async function pollLogin({ client, io, sleep }: LoginCall, login: PolledLogin): Promise<Secret | undefined> {
  const body = { state: login.state, client_nonce: login.clientNonce };
  let seconds = login.seconds > 0 ? login.seconds : 5;
  return untilInterrupted(io, async (signal) => {
    for (;;) {
      await sleep(seconds * 1_000, signal);
      const answer = await client.secret('PUT', `auth/${login.mount}/oidc/poll`, { body }).catch(pending);
      if (answer === 'slow_down') seconds *= 2;
      else if (answer !== 'authorization_pending') return answer;
    }
  });
}

/** What a refusal says when the login is not complete yet. Rethrows any other. */
function pending(error: unknown): 'slow_down' | 'authorization_pending' {
  const text = error instanceof ApiFailure && error.status === 400 ? (error.errors.at(-1) ?? '') : '';
  if (text.endsWith('slow_down')) return 'slow_down';
  if (text.endsWith('authorization_pending')) return 'authorization_pending';
  throw error;
}
