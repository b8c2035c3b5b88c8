import { foreignText, InternalError, runAttributed, thrownText, type Clock, type CodeOwner } from '@strongroom/engine-sdk';
import { isSyncError } from '@strongroom/sync-sdk';
import { textsIn } from './contents.ts';
import { masked } from './sync-status.ts';

/** A plugin threw what is none of the errors that it may throw, or did not keep its contract. Neither a credential nor a value is in the text. */
export class PluginFault extends InternalError {}

/** The longest that a run's calls may take: less than a job may, so that the failure is still stored. A plugin that holds up the whole server for longer is a fault. Milliseconds. */
export const DEADLINE = 45_000;
/** Within which a plugin must give up once it was told to. Milliseconds. */
const GRACE = 5_000;
/** Values that may still turn up in what is thrown after the calls that brought them. */
const REMEMBERED = 20;

export interface PluginGuardOptions {
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
 * What all calls of a plugin pass: nothing that it throws, within a call or after it, holds a secret it was given or is longer than 4 KiB. One that
 * throws after its calls, does not end them, or holds up the server is reported.
 */
export class PluginGuard {
  readonly #options: PluginGuardOptions;
  readonly #owner: CodeOwner;
  /** Of calls that are under way, and of the last ones that ended. */
  readonly #values: string[] = [];

  constructor(options: PluginGuardOptions) {
    this.#options = options;
    this.#owner = {
      leaked: (error) => options.fault(`threw after its call had ended: ${this.#text(error)}`),
      ...(options.code ? { code: options.code } : {}),
    };
  }

  /** A call that needs no network. */
  look<T>(work: () => T): T {
    try {
      return this.#timed(work);
    } catch (error) {
      throw this.#clean(error);
    }
  }

  /** `value`: what the call sends. Rejects with the signal's reason where the plugin does not end a call that was aborted. */
  async call<T>(signal: AbortSignal, work: () => Promise<T>, value?: string): Promise<T> {
    if (value !== undefined) this.#remember(value);
    const end = new AbortController();
    try {
      return await Promise.race([this.#timed(work), this.#ignored(signal, end.signal)]);
    } catch (error) {
      if (signal.aborted && !isSyncError(error)) throw signal.reason;
      throw this.#clean(error);
    } finally {
      end.abort();
    }
  }

  /** A call that nobody can abort: it may take so many milliseconds. */
  async bounded<T>(what: string, millis: number, work: () => Promise<T>): Promise<T> {
    let cancel: (() => void) | undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#options.clock.after(millis, () => {
        this.#options.fault(`did not ${what} within ${millis / 1_000} s`);
        reject(new PluginFault(`the plugin of ${this.#options.title} did not ${what} within ${millis / 1_000} s`));
      });
    });
    try {
      return await Promise.race([this.#timed(work), late]);
    } catch (error) {
      throw this.#clean(error);
    } finally {
      cancel?.();
    }
  }

  /** Counts how long the plugin lets nobody else run. */
  #timed<T>(work: () => T): T {
    const { clock } = this.#options;
    const began = clock.millis();
    try {
      return runAttributed(this.#owner, work);
    } finally {
      const took = clock.millis() - began;
      if (took > DEADLINE) this.#options.fault(`held up the whole server for ${Math.round(took / 1_000)} s`);
    }
  }

  /** Rejects when the work has not ended a grace period after it was told to. */
  async #ignored(signal: AbortSignal, end: AbortSignal): Promise<never> {
    return new Promise<never>((_, reject) => {
      let cancel = (): void => undefined;
      const wait = (): void => {
        cancel = this.#options.clock.after(GRACE, () => {
          this.#options.fault('did not end a call when told to');
          reject(signal.reason as Error);
        });
      };
      end.addEventListener(
        'abort',
        () => {
          signal.removeEventListener('abort', wait);
          cancel();
        },
        { once: true },
      );
      if (signal.aborted) wait();
      else signal.addEventListener('abort', wait, { once: true });
    });
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
