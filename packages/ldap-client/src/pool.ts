import type { DirectoryClock } from './clock.ts';
import { LdapError } from './error.ts';

const maxAge = 300_000;
/** Milliseconds that a returned connection which has to settle waits for the next user instead, while others are at work. */
const GRACE = 10;

export interface Poolable {
  readonly alive: boolean;
  readonly pending: number;
  close(): void;
  onClose(listener: (reason: LdapError) => void): void;
}

interface Waiter<C> {
  /** False when the waiter has gone. */
  resolve(lease: Lease<C>): boolean;
  reject(error: unknown): void;
}

/** A connection for one user at a time. `reused` tells that it may have died unnoticed since it last answered. */
export interface Lease<C> {
  readonly connection: C;
  readonly reused: boolean;
  readonly since: number;
}

export interface PoolOptions<C> {
  readonly max: number;
  readonly idleMillis: number;
  readonly waitMillis: number;
  readonly clock: DirectoryClock;
  open(signal?: AbortSignal): Promise<C>;
  /**
   * What a connection that was returned needs before it is kept unused: at once, unless somebody waits for it or others are at work, since somebody is likely to
   * come soon then. When it rejects, the connection is let go.
   */
  readonly settle?: { needed(connection: C): boolean; run(connection: C): Promise<void> };
}

interface Idle<C> {
  readonly connection: C;
  readonly since: number;
  readonly usedAt: number;
}

/** Connections kept open, the most recently used first. Waiters are served in order. */
export class Pool<C extends Poolable> {
  readonly #options: PoolOptions<C>;
  readonly #idle: Idle<C>[] = [];
  /** Returned, and to settle soon. */
  readonly #unsettled: Idle<C>[] = [];
  readonly #waiters: Waiter<C>[] = [];
  readonly #all = new Set<C>();
  #size = 0;
  /** Connections in use. */
  #lent = 0;
  #closed = false;
  #cancelSweep: (() => void) | undefined;
  #cancelSettling: (() => void) | undefined;

  constructor(options: PoolOptions<C>) {
    this.#options = options;
  }

  /** Connections open, being opened or in use. */
  get size(): number {
    return this.#size;
  }

  /** `fresh` closes the unused ones first: one of them was found dead, and the others share its fate. */
  async acquire(signal?: AbortSignal, fresh = false): Promise<Lease<C>> {
    if (this.#closed) throw closed();
    if (fresh) for (const { connection } of [...this.#unsettled.splice(0), ...this.#idle.splice(0)]) this.#drop(connection);
    for (let next = this.#unused(); next !== undefined; next = this.#unused()) {
      if (next.connection.alive) return this.#lend({ connection: next.connection, reused: true, since: next.since });
      this.#drop(next.connection);
    }
    if (this.#size < this.#options.max) return this.#lend(await this.#open(signal));
    return this.#wait(signal);
  }

  /** Gives a connection back. One that is closed, still busy or old is let go. */
  release(lease: Pick<Lease<C>, 'connection' | 'since'>): void {
    this.#lent -= 1;
    this.#putBack(lease);
    if (this.#lent === 0) this.#settleAll();
  }

  discard({ connection }: Pick<Lease<C>, 'connection'>): void {
    this.#lent -= 1;
    this.#letGo(connection);
    if (this.#lent === 0) this.#settleAll();
  }

  #putBack({ connection, since }: Pick<Lease<C>, 'connection' | 'since'>): void {
    const { clock, idleMillis, settle } = this.#options;
    const now = clock.millis();
    if (this.#closed || !connection.alive || connection.pending > 0 || now - since >= maxAge) return this.#letGo(connection);
    for (let waiter = this.#waiters.shift(); waiter !== undefined; waiter = this.#waiters.shift())
      if (waiter.resolve({ connection, reused: true, since })) return;
    if (settle?.needed(connection)) {
      this.#unsettled.push({ connection, since, usedAt: now });
      this.#cancelSettling ??= clock.after(GRACE, () => this.#settleDue());
      return;
    }
    this.#idle.push({ connection, since, usedAt: now });
    this.#cancelSweep ??= clock.after(idleMillis, () => this.#sweep());
  }

  #letGo(connection: C): void {
    this.#drop(connection);
    this.#serveNext();
  }

  #lend(lease: Lease<C>): Lease<C> {
    this.#lent += 1;
    return lease;
  }

  #unused(): Idle<C> | undefined {
    return this.#unsettled.pop() ?? this.#idle.pop();
  }

  #settleAll(): void {
    for (const one of this.#unsettled.splice(0)) this.#settle(one);
  }

  #settleDue(): void {
    this.#cancelSettling = undefined;
    const { clock } = this.#options;
    const now = clock.millis();
    while (this.#unsettled[0] !== undefined && now - this.#unsettled[0].usedAt >= GRACE) this.#settle(this.#unsettled.shift()!);
    const [next] = this.#unsettled;
    if (next !== undefined) this.#cancelSettling = clock.after(next.usedAt + GRACE - now, () => this.#settleDue());
  }

  #settle({ connection, since }: Idle<C>): void {
    this.#options.settle!.run(connection).then(
      () => this.#putBack({ connection, since }),
      () => this.#letGo(connection),
    );
  }

  close(): void {
    this.#closed = true;
    this.#cancelSweep?.();
    this.#cancelSettling?.();
    this.#idle.length = 0;
    this.#unsettled.length = 0;
    for (const connection of this.#all) connection.close();
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closed());
  }

  async #open(signal: AbortSignal | undefined): Promise<Lease<C>> {
    this.#size++;
    let connection: C;
    try {
      connection = await this.#options.open(signal);
    } catch (error) {
      this.#size--;
      this.#serveNext();
      throw error;
    }
    if (this.#closed) {
      connection.close();
      throw closed();
    }
    this.#all.add(connection);
    connection.onClose(() => {
      for (const kept of [this.#idle, this.#unsettled]) {
        const index = kept.findIndex((idle) => idle.connection === connection);
        if (index < 0) continue;
        kept.splice(index, 1);
        this.#drop(connection);
      }
    });
    return { connection, reused: false, since: this.#options.clock.millis() };
  }

  #wait(signal: AbortSignal | undefined): Promise<Lease<C>> {
    if (signal?.aborted) return Promise.reject(new LdapError('ABORTED', { diagnosticMessage: 'the caller gave up' }));
    return new Promise((resolve, reject) => {
      let gone = false;
      const settle = (): void => {
        gone = true;
        cancelDeadline();
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter<C> = {
        resolve: (lease) => {
          if (gone) return false;
          settle();
          resolve(this.#lend(lease));
          return true;
        },
        reject: (error) => {
          settle();
          const index = this.#waiters.indexOf(waiter);
          if (index >= 0) this.#waiters.splice(index, 1);
          reject(error);
        },
      };
      const onAbort = (): void => waiter.reject(new LdapError('ABORTED', { diagnosticMessage: 'the caller gave up' }));
      const cancelDeadline = this.#options.clock.after(this.#options.waitMillis, () =>
        waiter.reject(new LdapError('TIMEOUT', { diagnosticMessage: `all ${this.#options.max} connections stayed busy` })),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
    });
  }

  #serveNext(): void {
    if (this.#closed || this.#size >= this.#options.max) return;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) return;
    this.#open(undefined).then(
      (lease) => waiter.resolve(lease) || this.#putBack(lease),
      (error: unknown) => waiter.reject(error),
    );
  }

  #drop(connection: C): void {
    if (this.#all.delete(connection)) this.#size--;
    connection.close();
  }

  #sweep(): void {
    this.#cancelSweep = undefined;
    const { clock, idleMillis } = this.#options;
    const now = clock.millis();
    while (this.#idle[0] !== undefined && now - this.#idle[0].usedAt >= idleMillis) this.#drop(this.#idle.shift()!.connection);
    if (this.#idle[0] !== undefined) this.#cancelSweep = clock.after(this.#idle[0].usedAt + idleMillis - now, () => this.#sweep());
  }
}

function closed(): LdapError {
  return new LdapError('CLOSED', { diagnosticMessage: 'the directory was closed' });
}
