/** Lets calls begin no faster than `perSecond`; undefined lets them begin at once. Also holds all calls back after a server asked for it. */
export class Pace {
  readonly #gap: number;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  readonly #now: () => number;
  #next = 0;

  constructor(parts: { perSecond: number | undefined; sleep: (milliseconds: number) => Promise<void>; now: () => number }) {
    this.#gap = parts.perSecond === undefined ? 0 : 1000 / parts.perSecond;
    this.#sleep = parts.sleep;
    this.#now = parts.now;
  }

  /** Resolves when the next call may begin. */
  async turn(): Promise<void> {
    const now = this.#now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#gap;
    if (at > now) await this.#sleep(at - now);
  }

  /** No call begins for so many seconds. */
  hold(seconds: number): void {
    this.#next = Math.max(this.#next, this.#now() + seconds * 1000);
  }
}
