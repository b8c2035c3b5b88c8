/** Denied logins on one mount within a minute from which on they are news. */
const MANY = 20;
const MINUTE = 60_000;

/** Notices that many logins on a mount are denied. Counts whole minutes, so that it costs no more than a counter. */
export class DeniedLogins {
  readonly #counts = new Map<string, { minute: number; count: number }>();
  readonly #now: () => number;
  readonly #many: (mount: string, count: number) => void;

  /** `now` in milliseconds. `many` hears of a mount once in a minute. */
  constructor(now: () => number, many: (mount: string, count: number) => void) {
    this.#now = now;
    this.#many = many;
  }

  count(mount: string): void {
    const minute = Math.floor(this.#now() / MINUTE);
    let counted = this.#counts.get(mount);
    if (counted?.minute !== minute) this.#counts.set(mount, (counted = { minute, count: 0 }));
    counted.count += 1;
    if (counted.count === MANY) this.#many(mount, counted.count);
  }

  forgetMount(mount: string): void {
    this.#counts.delete(mount);
  }
}
