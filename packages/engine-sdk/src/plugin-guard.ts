import { runAttributed, type CodeOwner } from './attribution.ts';
import type { Clock } from './clock.ts';
import { DeadlineIgnored, withDeadline } from './deadline.ts';
import { loopWatch } from './loop-watch.ts';

/** Milliseconds within which a plugin must end a call once its signal is aborted. */
const GRACE = 5_000;

/** Whom a plugin guard watches, and whom it reports to. */
export interface PluginGuardOptions {
  readonly clock: Clock;
  /** Where the plugin's code is, as in `CodeOwner`. */
  readonly code: readonly string[] | undefined;
  /** Milliseconds for which the plugin may hold up the whole server. */
  readonly longestBlock: number;
  /** The time by which that is measured, in milliseconds. Absent: a monotonic one. */
  readonly elapsed?: () => number;
  /** What something that leaked out of the plugin after its call says, without secrets. */
  leakedText(error: unknown): string;
  /** The plugin broke its contract: `did not end a call after it was aborted`. The text is for operators. */
  fault(reason: string): void;
  /** It may have, but calls of others were under way too. */
  suspicion?(reason: string): void;
}

/**
 * Calls of one plugin pass here: each has a deadline, and a plugin that does not end a call, throws after its calls, or holds up the whole server is
 * reported. What it throws is passed on as it is; the engine words it, and keeps secrets out of it.
 */
export class PluginGuard {
  readonly #options: PluginGuardOptions;
  /** Of all that the plugin begins: what it leaves running and throws is its fault. */
  readonly #owner: CodeOwner;

  constructor(options: PluginGuardOptions) {
    this.#options = options;
    this.#owner = {
      leaked: (error) => options.fault(`threw after its call had ended: ${options.leakedText(error)}`),
      ...(options.code && { code: options.code }),
    };
  }

  /** Runs code of the plugin as far as it goes at once. */
  run<T>(work: () => T): T {
    const { elapsed = () => performance.now(), longestBlock } = this.#options;
    const begun = elapsed();
    try {
      return runAttributed(this.#owner, work);
    } finally {
      const took = elapsed() - begun;
      if (took > longestBlock) this.#blocked(took, true);
    }
  }

  /**
   * A call that ends when `parent` is aborted, or after this many milliseconds. The plugin has a grace period to end it by itself.
   * @throws what the plugin throws; the reason of the signal where the plugin ignores it
   */
  async call<T>(parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>, millis = Infinity): Promise<T> {
    const { clock, longestBlock, fault } = this.#options;
    const unwatch = loopWatch.watch({ millis: longestBlock, blocked: (took, alone) => this.#blocked(took, alone) });
    try {
      return await withDeadline({ clock, millis, parent, grace: GRACE }, async (signal) => this.run(async () => work(signal)));
    } catch (error) {
      if (!(error instanceof DeadlineIgnored)) throw error;
      fault('did not end a call after it was aborted');
      throw error.cause;
    } finally {
      unwatch();
    }
  }

  /** A call that nobody can abort. `what` it is to do, for the text: `open a session`. @throws what the plugin throws; what `late` makes of the text */
  async bounded<T>(what: string, millis: number, work: () => Promise<T>, late: (text: string) => Error): Promise<T> {
    const { clock, fault } = this.#options;
    const text = `did not ${what} within ${millis / 1_000} s`;
    const passed = (): Error => {
      fault(text);
      return late(text);
    };
    return withDeadline({ clock, millis, passed }, async () => this.run(work));
  }

  #blocked(took: number, alone: boolean): void {
    const { fault, suspicion } = this.#options;
    loopWatch.told();
    const seconds = took / 1_000;
    const text = `held up the whole server for ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    if (alone) fault(text);
    else suspicion?.(text);
  }
}
