import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose code runs: somebody that can be told of what it throws after its call has ended. */
export interface CodeOwner {
  /** An error that nobody could catch: of a timer, an event, a promise that nobody waits for. Never throws. */
  leaked(error: unknown): void;
}

const owners = new AsyncLocalStorage<CodeOwner>();

/** Runs code that is not the server's own. All that it begins, timers and promises too, counts as its owner's. */
export function runAs<T>(owner: CodeOwner, work: () => T): T {
  return owners.run(owner, work);
}

/**
 * For the process's handlers of `uncaughtException` and `unhandledRejection`: tells the owner of the code that threw. False where the code was the
 * server's own, which is then in a state that nobody knows.
 */
export function tellOwner(error: unknown): boolean {
  const owner = owners.getStore();
  if (!owner) return false;
  try {
    owner.leaked(error);
    return true;
  } catch {
    return false;
  }
}
