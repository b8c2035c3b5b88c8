import { createHash } from 'node:crypto';
import { own, type Clock, type Collection, type Schedule, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { JsonObject } from '../json/json-pointer.ts';
import { tokenRefused } from '../token/token-refused.ts';

/** `until`: seconds since the epoch. */
const Used = Type.Object({ until: Type.Number() });
const NoEntry = Type.Object({});
const ID = 'forget';
const EVERY_MS = 3_600_000;
const PAGE = 500;
/** Seconds since the epoch: what a date can have. */
const LATEST = 8_640_000_000_000;

/** What tells a token from all others of its issuer. @throws BadRequest for a token without `jti` */
export function identifierOf(claims: JsonObject): string {
  const jti = own(claims, 'jti');
  if (typeof jti !== 'string' || jti === '') throw tokenRefused('no identifier (jti) claim in token, and the role accepts each token once');
  return createHash('sha256')
    .update(JSON.stringify([own(claims, 'iss') ?? null, jti]))
    .digest('hex');
}

/** Remembers tokens that were used, until they expire. In the store, which all servers share. */
export class Replays {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Within the transaction that stores the login. @throws BadRequest for a token that was used before */
  async remember(tx: Transaction, identifier: string, until: number): Promise<void> {
    const used = usedIn(tx);
    if (await used.has(identifier)) throw tokenRefused('the token was used before, and the role accepts each token once');
    await used.put(identifier, { until: Math.min(Math.ceil(until), LATEST) });
    if ((await tx.jobStatus(this.job, ID)) === undefined) await tx.schedule(this.job, ID, new Date(this.#clock.millis() + EVERY_MS), {});
  }

  /** Forgets what has expired, once an hour while there is anything. */
  readonly job: Schedule<typeof NoEntry> = {
    kind: 'forget-used-tokens',
    entry: NoEntry,
    run: async (_entry, storage, signal) => {
      const now = this.#clock.millis() / 1_000;
      let left = false;
      let after: string | undefined;
      for (;;) {
        signal.throwIfAborted();
        const page = await usedIn(storage).entries({ limit: PAGE, ...(after === undefined ? {} : { after }) });
        const expired = page.filter(([, { until }]) => until < now).map(([id]) => id);
        left ||= expired.length < page.length;
        if (expired.length > 0) {
          await storage.transaction(async (tx) => {
            for (const id of expired) await usedIn(tx).delete(id);
          });
        }
        if (page.length < PAGE) break;
        after = page.at(-1)![0];
      }
      return left ? new Date(this.#clock.millis() + EVERY_MS) : undefined;
    },
  };
}

function usedIn(view: StorageView | Transaction): Collection<{ readonly until: number }> {
  return view.collection('used-token/', Used);
}
