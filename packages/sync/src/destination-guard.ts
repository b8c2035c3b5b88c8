import { foreignText, InternalError, PluginGuard, thrownText, type Clock } from '@strongroom/engine-sdk';
import { isSyncError } from '@strongroom/sync-sdk';
import { textsIn } from './contents.ts';
import { masked } from './sync-status.ts';

/** A plugin threw what is none of the errors that it may throw, or did not keep its contract. Neither a credential nor a value is in the text. */
export class PluginFault extends InternalError {}

/** The longest that a run's calls may take: less than a job may, so that the failure is still stored. A plugin that holds up the whole server for longer is a fault. Milliseconds. */
export const DEADLINE = 45_000;
/** Values that may still turn up in what is thrown after the calls that brought them. */
const REMEMBERED = 20;

export interface DestinationGuardOptions {
  /** What people call the provider. */
  readonly title: string;
  readonly clock: Clock;
  /** Where the plugin's code is. */
  readonly code: readonly string[] | undefined;
  /** Credentials: struck out of all texts. */
  readonly secrets: () => readonly string[];
  /** The plugin broke its contract; the text is for operators. */
  fault(reason: string): void;
}

/**
 * The guard of a destination's plugin: nothing that it throws, within a call or after it, holds a secret it was given or is longer than 4 KiB. One that
 * breaks its contract is reported.
 */
export class DestinationGuard {
  readonly #options: DestinationGuardOptions;
  readonly #guard: PluginGuard;
  /** Of calls that are under way, and of the last ones that ended. */
  readonly #values: string[] = [];

  constructor(options: DestinationGuardOptions) {
    this.#options = options;
    const { clock, code } = options;
    this.#guard = new PluginGuard({
      clock,
      code,
      longestBlock: DEADLINE,
      elapsed: () => clock.millis(),
      leakedText: (error) => this.#text(error),
      fault: (reason) => options.fault(reason),
    });
  }

  /** A call that needs no network. */
  look<T>(work: () => T): T {
    try {
      return this.#guard.run(work);
    } catch (error) {
      throw this.#clean(error);
    }
  }

  /** `value`: what the call sends. Rejects with the signal's reason where the plugin does not end a call that was aborted. */
  async call<T>(signal: AbortSignal, work: () => Promise<T>, value?: string): Promise<T> {
    if (value !== undefined) this.#remember(value);
    try {
      return await this.#guard.call(signal, work);
    } catch (error) {
      throw signal.aborted && !isSyncError(error) ? signal.reason : this.#clean(error);
    }
  }

  /** A call that cannot be aborted: it may take a number of milliseconds. */
  async bounded<T>(what: string, millis: number, work: () => Promise<T>): Promise<T> {
    const late = (text: string): Error => new PluginFault(`the plugin of ${this.#options.title} ${text}`);
    try {
      return await this.#guard.bounded(what, millis, work, late);
    } catch (error) {
      throw this.#clean(error);
    }
  }

  #remember(value: string): void {
    this.#values.push(value);
    if (this.#values.length > REMEMBERED) this.#values.shift();
  }

  #text(error: unknown): string {
    return foreignText(this.#masked(thrownText(error)));
  }

  #masked(text: string): string {
    return masked(text, [...this.#options.secrets(), ...this.#values.flatMap(textsIn)]);
  }

  #clean(error: unknown): unknown {
    if (error instanceof PluginFault) return error;
    if (!isSyncError(error)) {
      const trace = error instanceof Error ? (error.stack ?? String(error)) : thrownText(error);
      const name = error instanceof Error && error.name !== '' ? `${error.name}: ` : '';
      const text = `the plugin of ${this.#options.title} failed: ${name}${thrownText(error)}`;
      return new PluginFault(foreignText(this.#masked(text)), { cause: foreignText(this.#masked(trace)) });
    }
    error.message = foreignText(this.#masked(error.message));
    if (error.stack !== undefined) error.stack = foreignText(this.#masked(error.stack));
    return error;
  }
}
