import type { ApiClient } from '../client.ts';
import { formatDuration } from '../duration.ts';
import type { Invocation } from '../invocation.ts';
import type { Lease } from './reading.ts';

/** A lease shorter than this after a renewal has come to its end. Seconds. */
const LEAST = 2;
/** How much of a lease passes before it is renewed. */
const SHARE = 2 / 3;
/** After a renewal that failed. Seconds. */
const PAUSE = 5;

interface RenewalParts {
  readonly client: ApiClient;
  readonly sleep: Invocation['sleep'];
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Renews a lease until the signal is aborted. Resolves before, shortly before the lease ends, when the server grants no more time. */
export async function keepLease(lease: Lease, parts: RenewalParts): Promise<void> {
  const { path, renewable } = lease;
  await keep(lease.seconds, renewable, `the lease of ${path}`, parts, async () => {
    const secret = await parts.client.write('sys/leases/renew', { lease_id: lease.id, increment: lease.seconds });
    return secret === undefined ? undefined : { seconds: secret.lease_duration, renewable: secret.renewable };
  });
}

/** Renews the caller's token in the same way. Resolves at once for one without an end, and for one that cannot be looked up. */
export async function keepToken(parts: RenewalParts): Promise<'endless' | 'ended'> {
  let seconds: number;
  let renewable: boolean;
  try {
    const found = await parts.client.read('auth/token/lookup-self');
    seconds = Number(found?.data?.['ttl'] ?? 0);
    renewable = found?.data?.['renewable'] === true;
  } catch {
    return 'endless';
  }
  if (!(seconds > 0)) return 'endless';
  await keep(seconds, renewable, 'the token', parts, async () => {
    const secret = await parts.client.write('auth/token/renew-self', {});
    return secret?.auth && { seconds: secret.auth.lease_duration, renewable: secret.auth.renewable };
  });
  return 'ended';
}

async function keep(
  first: number,
  renewable: boolean,
  what: string,
  { sleep, warn, signal }: RenewalParts,
  renew: () => Promise<{ seconds: number; renewable: boolean } | undefined>,
): Promise<void> {
  let left = first;
  let goesOn = renewable;
  let failed = false;
  let pause = goesOn ? left * SHARE : left - LEAST;
  for (;;) {
    await sleep(Math.max(pause, 0) * 1_000, signal).catch(() => undefined);
    if (signal.aborted) return;
    left -= pause;
    if (!goesOn || left <= LEAST) return;
    try {
      const renewed = await renew();
      // Near the maximum TTL the server grants no more than what was left anyway.
      goesOn = renewed !== undefined && renewed.renewable && renewed.seconds > left + 1;
      left = renewed?.seconds ?? left;
      failed = false;
      pause = goesOn ? left * SHARE : left - LEAST;
      if (!goesOn) warn(`The server extends ${what} no further: it ends in ${formatDuration(Math.round(left))}.`);
    } catch (error) {
      if (signal.aborted) return;
      if (!failed)
        warn(`Renewing ${what} failed and is retried until it ends in ${formatDuration(Math.round(left))}: ${(error as Error).message}`);
      failed = true;
      pause = Math.min(PAUSE, left - LEAST);
    }
  }
}
