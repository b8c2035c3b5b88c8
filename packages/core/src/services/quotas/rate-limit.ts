import { Type, type Static } from 'typebox';
import { QuotaScope } from './quota-scope.ts';

/** A rate limit as stored. Spans are seconds. */
export const RateLimit = Type.Object({
  scope: QuotaScope,
  /** Requests in an interval, of each client address; may be a fraction. */
  rate: Type.Number(),
  interval: Type.Number(),
  /** A client that was refused stays refused for that long; 0: until the interval ends. */
  block_interval: Type.Number(),
  /** Stored and shown for clients that manage namespaces. */
  inheritable: Type.Boolean(),
});
export type RateLimit = Static<typeof RateLimit>;

/** The whole requests that an interval allows: at least one. */
export function wholeRate({ rate }: Pick<RateLimit, 'rate'>): number {
  return Math.max(1, Math.round(rate));
}
