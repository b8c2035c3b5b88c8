import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { TotpParameters } from './totp-parameters.ts';

/** The number of the period in which a time is. `millis`: since the epoch. */
export function stepAt(millis: number, { period }: Pick<TotpParameters, 'period'>): number {
  return Math.floor(millis / 1_000 / period);
}

/** The code of a step (RFC 6238). */
export function totpCode(key: Uint8Array, step: number, { algorithm, digits }: Pick<TotpParameters, 'algorithm' | 'digits'>): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac(algorithm, key).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step whose code this is, of the current one and `skew` steps on either side; undefined if it is the code of none. Compares with all of them, so that
 * the time it takes says nothing.
 */
export function matchingStep(
  key: Uint8Array,
  code: string,
  { millis, skew, ...parameters }: TotpParameters & { readonly millis: number; readonly skew: number },
): number | undefined {
  const now = stepAt(millis, parameters);
  let found: number | undefined;
  for (let step = now - skew; step <= now + skew; step += 1) {
    if (step >= 0 && timingSafeEqual(digestOf(totpCode(key, step, parameters)), digestOf(code))) found ??= step;
  }
  return found;
}

function digestOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
