import { Conflict, StorageFailure, type StorageDriver } from '@strongroom/storage-sdk';

/** Callers that write and read without end, and remember what was acknowledged. */
export class StorageLoad {
  readonly #drivers: readonly StorageDriver[];
  readonly #acknowledged = new Map<string, string>();
  /** Adds to the counter that were acknowledged, and those whose outcome is unknown. */
  #added = 0;
  #addsUnknown = 0;
  #going = true;
  #running: Promise<void[]> | undefined;
  #last = { read: 0, write: 0 };
  /** The longest time without a success of one kind. */
  #gap = 0;
  /** Failures, by their text. */
  readonly failures = new Map<string, number>();
  unknown = 0;
  /** Reads that found less than what was acknowledged before. */
  readonly stale: string[] = [];
  writes = 0;
  reads = 0;

  constructor(drivers: readonly StorageDriver[]) {
    this.#drivers = drivers;
  }

  start(callers = 8): void {
    this.#last = { read: performance.now(), write: performance.now() };
    this.#running = Promise.all(
      Array.from({ length: callers }, (_, i) => this.#call(this.#drivers[i % this.#drivers.length]!, `caller/${i}`, i % 4 === 0)),
    );
  }

  /** The longest time without a success since the last call, also one that lasts, in milliseconds. */
  takeGap(): number {
    const now = performance.now();
    const gap = Math.max(this.#gap, now - this.#last.read, now - this.#last.write);
    this.#gap = 0;
    return Math.round(gap);
  }

  async stop(): Promise<void> {
    this.#going = false;
    await this.#running;
  }

  /** What was acknowledged and is not there, as the driver reads it. */
  async lost(driver: StorageDriver): Promise<string[]> {
    const found = new Map((await driver.range({ prefix: 'caller/' })).map(({ key, value }) => [key, Buffer.from(value).toString()]));
    const lost = [...this.#acknowledged].filter(([key, text]) => Number(found.get(key) ?? -1) < Number(text)).map(([key]) => key);
    const counter = Number(Buffer.from((await driver.get('counter'))?.value ?? []).toString() || '0');
    if (counter < this.#added || counter > this.#added + this.#addsUnknown)
      lost.push(`the counter is ${counter}, and not ${this.#added} with ${this.#addsUnknown} unknown`);
    return lost;
  }

  async #call(driver: StorageDriver, key: string, counts: boolean): Promise<void> {
    for (let i = 0; this.#going; i++) {
      try {
        await driver.commit({ put: [{ key: `${key}/${i % 50}`, value: Buffer.from(String(i)) }] });
        this.#acknowledged.set(`${key}/${i % 50}`, String(i));
        this.#success('write');
        const found = await driver.get(`${key}/${i % 50}`);
        this.#success('read');
        if (Number(Buffer.from(found?.value ?? [])) < i) this.stale.push(`a read found ${Buffer.from(found?.value ?? [])} after ${i}`);
        if (counts) await this.#count(driver);
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        if (!error.transient) this.unknown += 1;
        this.#fail(error.message);
      }
    }
  }

  async #count(driver: StorageDriver): Promise<void> {
    const stored = await driver.get('counter');
    const next = Number(Buffer.from(stored?.value ?? []).toString() || '0') + 1;
    try {
      await driver.commit({
        expect: [{ key: 'counter', version: stored?.version }],
        put: [{ key: 'counter', value: Buffer.from(String(next)) }],
      });
      this.#added += 1;
    } catch (error) {
      if (error instanceof Conflict) return;
      if (error instanceof StorageFailure && !error.transient) this.#addsUnknown += 1;
      throw error;
    }
  }

  #success(of: 'read' | 'write'): void {
    const now = performance.now();
    this.#gap = Math.max(this.#gap, now - this.#last[of]);
    this.#last[of] = now;
    this[of === 'read' ? 'reads' : 'writes'] += 1;
  }

  #fail(text: string): void {
    this.failures.set(text, (this.failures.get(text) ?? 0) + 1);
  }
}
