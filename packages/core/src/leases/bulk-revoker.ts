import { BadRequest, type Log } from '@strongroom/engine-sdk';
import { CorruptRecord } from '../barrier/key-ring.ts';
import type { TokenRevoker } from '../tokens/token-revoker.ts';
import type { LeaseStore } from './lease-store.ts';

const PAGE = 1_000;
const CONCURRENCY = 64;
const NEVER = new AbortController().signal;

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
    if (prefix !== '' && (await this.#leases.find(prefix)) !== undefined) {
      await this.#each([prefix], options.force);
      return;
    }
    let after: string | undefined;
    for (;;) {
      const ids = await this.#leases.ids(prefix === '' ? '' : `${prefix}/`, { ...(after === undefined ? {} : { after }), limit: PAGE });
      if (ids.length === 0) return;
      await this.#each(ids, options.force);
      after = ids[ids.length - 1];
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** A damaged lease is none of a token: those have no record of their own. */
  async #isToken(id: string, force: boolean): Promise<boolean> {
    try {
      return (await this.#leases.find(id)) === 'token';
    } catch (error) {
      if (force && error instanceof CorruptRecord) return false;
      throw error;
    }
  }

  async #each(ids: readonly string[], force: boolean): Promise<void> {
    let at = 0;
    let failure: Error | undefined;
    const workers = Array.from({ length: Math.min(CONCURRENCY, ids.length) }, async () => {
      while (at < ids.length && !failure) {
        const position = at;
        const id = ids[at]!;
        at += 1;
        try {
          if (await this.#isToken(id, force)) await this.#tokens.revoke(id.slice(id.lastIndexOf('/') + 1), NEVER);
          else await this.#leases.revoke(id, { force, signal: NEVER });
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          if (force) this.#log.warn('a lease could not be dropped', { lease: id, error: reason });
          else failure ??= new BadRequest(`failed to revoke ${JSON.stringify(id)} (${position + 1} / ${ids.length}): ${reason}`);
        }
      }
    });
    await Promise.all(workers);
    if (failure) throw failure;
  }
}
