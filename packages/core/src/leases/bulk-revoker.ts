import { BadRequest, type Log } from '@strongroom/engine-sdk';
import type { TokenRevoker } from '../tokens/token-revoker.ts';
import type { LeaseStore } from './lease-store.ts';

const PAGE = 1_000;
const CONCURRENCY = 64;
const NEVER = new AbortController().signal;

interface Found {
  readonly id: string;
  readonly token: boolean;
}

/** Takes back everything below a path: leases and, since tokens have leases too, tokens. */
export class BulkRevoker {
  readonly #leases: LeaseStore;
  readonly #tokens: TokenRevoker;
  readonly #log: Log;

  constructor(parts: { leases: LeaseStore; tokens: TokenRevoker; log: Log }) {
    this.#leases = parts.leases;
    this.#tokens = parts.tokens;
    this.#log = parts.log;
  }

  /**
   * `prefix` without a closing slash; a lease of exactly that id is meant first. Resolves when all are gone. `force` drops what
   * cannot be taken back. @throws BadRequest naming the first lease that failed.
   */
  async revoke(prefix: string, options: { force: boolean }): Promise<void> {
    const [exact] = prefix === '' ? [] : await this.#leases.ids(prefix, { limit: 1 });
    if (exact?.id === prefix) {
      await this.#page([exact], options.force);
      return;
    }
    for await (const found of this.#below(prefix)) await this.#page(found, options.force);
  }

  /** Hands everything below the path to the schedule; tokens are dead at once. What the schedule does survives a crash. */
  async queue(prefix: string): Promise<void> {
    for await (const found of this.#below(prefix)) {
      const tokens = found.filter(({ token }) => token);
      for (let at = 0; at < tokens.length; at += CONCURRENCY) {
        await this.#tokens.revokeSoon(tokens.slice(at, at + CONCURRENCY).map(({ id }) => digestOf(id)));
      }
      const leases = found.filter(({ token }) => !token);
      for (let at = 0; at < leases.length; at += CONCURRENCY) {
        await Promise.all(leases.slice(at, at + CONCURRENCY).map(async ({ id }) => this.#leases.revokeSoon(id)));
      }
    }
  }

  async *#below(prefix: string): AsyncGenerator<Found[]> {
    let after: string | undefined;
    for (;;) {
      const found = await this.#leases.ids(prefix === '' ? '' : `${prefix}/`, { ...(after === undefined ? {} : { after }), limit: PAGE });
      if (found.length === 0) return;
      yield found;
      after = found[found.length - 1]!.id;
    }
  }

  async #page(found: readonly Found[], force: boolean): Promise<void> {
    const tokens = found.filter(({ token }) => token).map(({ id }) => digestOf(id));
    if (tokens.length > 0) await this.#tokens.revokeAll(tokens, NEVER);
    let at = 0;
    // Of those that are at work side by side the first in order is told, whichever failed first.
    const failures = new Map<number, Error>();
    const workers = Array.from({ length: Math.min(CONCURRENCY, found.length) }, async () => {
      while (at < found.length && failures.size === 0) {
        const position = at;
        const { id, token } = found[at]!;
        at += 1;
        if (token) continue;
        try {
          await this.#leases.revoke(id, { force, signal: NEVER });
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          if (force) this.#log.warn('a lease could not be dropped', { lease: id, error: reason });
          else
            failures.set(position, new BadRequest(`failed to revoke ${JSON.stringify(id)} (${position + 1} / ${found.length}): ${reason}`));
        }
      }
    });
    await Promise.all(workers);
    if (failures.size > 0) throw failures.get(Math.min(...failures.keys()))!;
  }
}

/** A token's lease is its path and its digest. */
function digestOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
