import type { Clock, Log } from '@strongroom/engine-sdk';
import { SealNotOpened, type OpeningResult } from './seal.ts';

/** How long until the next try after one that failed; it doubles up to the longest. Milliseconds. */
const FIRST = 1_000;
const LONGEST = 60_000;

/** Opens a server whose seal does that by itself as soon as that is possible: another server initializes the store, or the seal can be reached again. */
export class Opening {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open: () => Promise<OpeningResult>;
  #cancel: (() => void) | undefined;
  #running = false;
  #pause = FIRST;
  #problem: string | undefined;

  /** `open` makes one try; a throw is shown, and the try repeated. */
  constructor(parts: { clock: Clock; log: Log; open: () => Promise<OpeningResult> }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#open = parts.open;
  }

  /** Why the last try failed; undefined without one. Open to everybody. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** From now on tries go on by themselves. `found`: what the try that was made came to, or why it failed. */
  start(found: OpeningResult | Error): void {
    this.#running = true;
    this.#pause = FIRST;
    this.#came(found);
  }

  /** As `start`, while the first try goes on: the seals take their time to answer. */
  follow(trying: Promise<OpeningResult>): void {
    this.#running = true;
    this.#pause = FIRST;
    this.#problem = 'no seal has answered yet; the server stays sealed and tries again';
    this.#log.warn('no seal has answered yet; the server starts sealed, and opens when one does');
    this.#settle(trying);
  }

  stop(): void {
    this.#running = false;
    this.#problem = undefined;
    this.#cancel?.();
  }

  /** Something happened that may let it open: it is tried at once. */
  nudge(): void {
    if (this.#running) this.#again(0);
  }

  #again(millis: number): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(millis, () => this.#settle(this.#open()));
  }

  #settle(trying: Promise<OpeningResult>): void {
    trying.then(
      (found) => this.#came(found),
      (error: unknown) => this.#came(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #came(found: OpeningResult | Error): void {
    if (found === 'open') return this.stop();
    if (!this.#running) return;
    if (found instanceof Error) return this.#failed(found);
    this.#pause = FIRST;
    this.#problem = undefined;
    this.#cancel?.();
    // Operators migrate the store: there is nothing to try until a server says that it was done.
    if (found === 'not initialized') this.#again(FIRST);
  }

  #failed(error: Error): void {
    const refused = error instanceof SealNotOpened;
    const wait = Math.max(this.#pause, (refused && error.pause) || 0);
    this.#problem = `${error.message}; the server stays sealed and tries again`;
    this.#log.error(saidOf(error), { reasons: refused ? error.reasons : [error.message], seconds: wait / 1_000 });
    this.#again(wait);
    this.#pause = Math.min(this.#pause * 2, LONGEST);
  }
}

/** What an operator can do about it differs by kind. */
function saidOf(error: Error): string {
  const kinds = error instanceof SealNotOpened ? error.kinds : [];
  if (kinds.includes('permission'))
    return 'the server stays sealed because its seal refuses permission: somebody must grant it again; it tries again';
  if (kinds.includes('wrong key') || kinds.includes('wrong answer'))
    return 'the server stays sealed because a seal does not open this store; it tries again';
  if (kinds.includes('throttled')) return 'the server stays sealed because its seal asks for a pause; it tries again';
  return 'the server stays sealed because its seal cannot be reached; it tries again';
}
