import type { Clock } from '@strongroom/engine-sdk';
import type { AccessKey, CloudSession } from './cloud-provider.ts';

/** After this long a new key is known everywhere, as a rule. Milliseconds. */
export const USUAL_PROPAGATION = 10_000;
/** Milliseconds between two tries. */
const PAUSE = 1_000;

/** Tries a new key until the provider accepts it, for at most `atMost` milliseconds. Resolves with whether it did. */
export async function waitUntilAccepted(
  session: CloudSession,
  key: AccessKey,
  { clock, atMost, signal }: { clock: Clock; atMost: number; signal: AbortSignal },
): Promise<boolean> {
  const end = clock.millis() + atMost;
  for (;;) {
    if (await session.accepts(key, signal)) return true;
    if (clock.millis() + PAUSE > end) return false;
    await pause(clock, PAUSE, signal);
  }
}

function pause(clock: Clock, millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const leave = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.after(millis, () => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    signal.addEventListener('abort', leave, { once: true });
  });
}
