import { EngineError, type Clock, type StorageView } from '@strongroom/engine-sdk';
import { ClientBuckets, type Taken } from './client-buckets.ts';
import type { QuotaSubject } from './quota-scope.ts';
import { QuotaRules } from './quota-rules.ts';
import { QuotaSettings } from './quota-settings.ts';
import { RateLimit, wholeRate } from './rate-limit.ts';
import { shareOf, type Place } from '../../kernel/share-of-limit.ts';

/** Too many requests of this client. */
export class RateLimitExceeded extends EngineError {
  override readonly status = 429;
  override readonly form = 'plain' as const;
}

/** How many requests a client may make. One rule counts a request, the most specific; each client address has a bucket of its own in it. */
export class RateLimits {
  readonly rules: QuotaRules<RateLimit>;
  readonly settings: QuotaSettings;
  readonly #clock: Clock;
  readonly #place: () => Place;
  readonly #buckets = new Map<string, ClientBuckets>();
  readonly #refused = new Map<string, number>();

  constructor(parts: { storage: StorageView; clock: Clock; place: () => Place }) {
    this.#clock = parts.clock;
    this.#place = parts.place;
    // A rule that is written again begins with full buckets.
    this.rules = new QuotaRules(parts.storage.collection('rate-limit/', RateLimit, { cached: true }), (name) => this.#buckets.delete(name));
    this.settings = new QuotaSettings(parts.storage);
  }

  async load(): Promise<void> {
    await this.settings.load();
    await this.rules.load();
  }

  /**
   * Counts a request of the client. `path`: the canonical path from the root. Resolves with headers for the answer.
   * @throws RateLimitExceeded
   */
  count(subject: QuotaSubject, path: string, client: string): Readonly<Record<string, string>> | undefined {
    if (this.rules.empty || this.settings.exempts(path)) return undefined;
    const [found] = this.rules.matching(subject);
    if (!found) return undefined;
    const [name, rule] = found;
    const taken = this.#bucketsOf(name).take(client, shareOf(wholeRate(rule), this.#place()), rule);
    const headers = this.settings.responseHeaders ? headersOf(taken) : {};
    if (taken.allowed) return headers;
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
    throw new RateLimitExceeded(`request path ${JSON.stringify(path)}: rate limit quota exceeded`, {
      headers: { ...headers, 'Retry-After': String(taken.retryAfter) },
    });
  }

  /** Requests refused since the start, by rule. */
  refusals(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  #bucketsOf(name: string): ClientBuckets {
    let buckets = this.#buckets.get(name);
    if (!buckets) this.#buckets.set(name, (buckets = new ClientBuckets(this.#clock)));
    return buckets;
  }
}

/** A client that is blocked learns only when to come again. */
function headersOf(taken: Taken): Record<string, string> {
  if (!taken.allowed && taken.blocked) return {};
  return {
    'X-Ratelimit-Limit': String(taken.limit),
    'X-Ratelimit-Remaining': String(taken.allowed ? taken.remaining : 0),
    'X-Ratelimit-Reset': String(taken.reset),
  };
}
