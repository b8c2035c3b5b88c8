import { BadRequest, mapConcurrently, type Log } from '@strongroom/engine-sdk';
import type { TokenRevoker } from '../tokens/token-revoker.ts';
import type { LeftOutside } from '../outside/left-outside.ts';
import type { LeaseStore } from '../leases/lease-store.ts';
import { NEVER } from '../../kernel/work/never.ts';

const PAGE = 4_096;
const CONCURRENCY = 64;
/** Failures of one outside system after which `tryAll` leaves the rest of its leases for later. */
const ENOUGH = 16;

interface Found {
  readonly id: string;
  readonly token: boolean;
}

interface Failure {
  readonly position: number;
  readonly reason: string;
  readonly text: string;
}

/** What is still there after a try to revoke it. */
export interface Unrevoked {
  /** Leases, also those that were not tried because their outside system keeps failing. */
  readonly count: number;
  readonly reasons: readonly string[];
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
   * `prefix` without a closing slash; a lease of exactly that id is meant first. Resolves when all are gone. @throws BadRequest naming the first
   * lease that failed.
   */
  async revoke(prefix: string): Promise<void> {
    for await (const found of this.#meant(prefix)) {
      await this.#revokeTokens(found, NEVER);
      const failures: Failure[] = [];
      await mapConcurrently(found, CONCURRENCY, async (each, position) => {
        if (!each.token && failures.length === 0) await this.#tryOne(each.id, position, found.length, NEVER, failures);
      });
      // Of those that were revoked side by side the first in order is reported, whichever failed first.
      const [first] = failures.sort((a, b) => a.position - b.position);
      if (first) throw new BadRequest(first.text);
    }
  }

  /** As `revoke`, and drops what cannot be taken back. Resolves with what is left outside. */
  async drop(prefix: string): Promise<LeftOutside[]> {
    const left: LeftOutside[] = [];
    const targets = new Targets(this.#leases);
    for await (const found of this.#meant(prefix)) {
      await this.#revokeTokens(found, NEVER);
      await mapConcurrently(found, CONCURRENCY, async ({ id, token }) => {
        if (token) return;
        try {
          await targets.of(id, { asked: true });
          const thing = await this.#leases.drop(id, { signal: NEVER });
          if (thing) left.push(thing);
        } catch (error) {
          this.#log.warn('a lease could not be dropped', { lease: id, error: messageOf(error) });
        }
      });
    }
    return left;
  }

  /** Tries to revoke everything below the path, and does not stop at what fails. `asked`: an operator wants it now, whatever circuit breakers say. */
  async tryAll(prefix: string, signal: AbortSignal, asked = false): Promise<Unrevoked> {
    const failures: Failure[] = [];
    const targets = new Targets(this.#leases);
    const failed = new Map<string | undefined, number>();
    let count = 0;
    for await (const found of this.#below(prefix)) {
      if (signal.aborted) break;
      await this.#revokeTokens(found, signal);
      await mapConcurrently(found, CONCURRENCY, async ({ id, token }, position) => {
        if (token || signal.aborted) return;
        const target = await targets.of(id, { asked });
        const before = failures.length;
        if ((failed.get(target) ?? 0) < ENOUGH) await this.#tryOne(id, position, found.length, signal, failures);
        else count += 1;
        if (failures.length > before) failed.set(target, (failed.get(target) ?? 0) + 1);
      });
    }
    return { count: count + failures.length, reasons: grouped(failures) };
  }

  /** What would be left outside if everything below the path were dropped now. */
  async leftBy(prefix: string): Promise<LeftOutside[]> {
    const left: LeftOutside[] = [];
    for await (const found of this.#below(prefix)) {
      for (const { id, token } of found) {
        const thing = token ? undefined : await this.#leases.leftBy(id);
        if (thing) left.push(thing);
      }
    }
    return left;
  }

  /** Drops everything below the path without asking any outside system. The tokens there are dead; the schedule takes back what hangs on them. */
  async dropUntried(prefix: string): Promise<void> {
    for await (const found of this.#below(prefix)) {
      const tokens = found.filter(({ token }) => token).map(({ id }) => digestOf(id));
      if (tokens.length > 0) await this.#tokens.revokeSoon(tokens);
      await mapConcurrently(found, CONCURRENCY, async ({ id, token }) => {
        if (!token) await this.#leases.dropUntried(id);
      });
    }
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

  async *#meant(prefix: string): AsyncGenerator<readonly Found[]> {
    const [exact] = prefix === '' ? [] : await this.#leases.ids(prefix, { limit: 1 });
    if (exact?.id === prefix) yield [exact];
    else yield* this.#below(prefix);
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

  async #revokeTokens(found: readonly Found[], signal: AbortSignal): Promise<void> {
    const tokens = found.filter(({ token }) => token).map(({ id }) => digestOf(id));
    if (tokens.length > 0) await this.#tokens.revokeAll(tokens, signal);
  }

  async #tryOne(id: string, position: number, total: number, signal: AbortSignal, failures: Failure[]): Promise<void> {
    try {
      await this.#leases.revoke(id, { signal });
    } catch (error) {
      const reason = messageOf(error);
      failures.push({ position, reason, text: `failed to revoke ${JSON.stringify(id)} (${position + 1} / ${total}): ${reason}` });
    }
  }
}

/** The outside systems of the leases of one run. */
class Targets {
  readonly #leases: LeaseStore;
  readonly #closed = new Set<string>();

  constructor(leases: LeaseStore) {
    this.#leases = leases;
  }

  /** Undefined where that is unknown. `asked`: its circuit breaker is closed, once in a run. */
  async of(id: string, { asked }: { asked: boolean }): Promise<string | undefined> {
    const target = await this.#leases.targetOf(id).catch(() => undefined);
    if (asked && target !== undefined && !this.#closed.has(target)) {
      this.#closed.add(target);
      this.#leases.closeCircuit(target);
    }
    return target;
  }
}

/** One text for each reason, in order: the first lease stands for all that failed for the same one. */
function grouped(failures: readonly Failure[]): string[] {
  const groups = new Map<string, { first: Failure; more: number }>();
  for (const failure of [...failures].sort((a, b) => a.position - b.position)) {
    const group = groups.get(failure.reason);
    if (group) group.more += 1;
    else groups.set(failure.reason, { first: failure, more: 0 });
  }
  return [...groups.values()].map(({ first, more }) => (more === 0 ? first.text : `${first.text} (and ${more} more like it)`));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A token's lease is its path and its digest. */
function digestOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
