import type { Circuit, CircuitSettings, CircuitStatus } from './circuit.ts';
import type { Clock } from './clock.ts';
import { EngineError, UpstreamFailed } from './errors.ts';

/** What went wrong last at an outside system. */
export interface LastFailure {
  readonly message: string;
  /** Milliseconds. */
  readonly at: number;
}

/** A circuit breaker that remembers the last failure that it counted. */
export class WatchedCircuit implements Circuit {
  /** Undefined until a call fails. Stays when calls succeed again. */
  lastFailure: LastFailure | undefined;
  readonly #circuit: Circuit;
  readonly #clock: Pick<Clock, 'millis'>;
  readonly #textOf: (error: unknown) => string;

  /** `textOf`: the words of a failure, without secrets. */
  constructor(circuit: Circuit, clock: Pick<Clock, 'millis'>, textOf: (error: unknown) => string) {
    this.#circuit = circuit;
    this.#clock = clock;
    this.#textOf = textOf;
  }

  check(): void {
    this.#circuit.check();
  }

  async call<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#circuit.call(signal, async () => {
      try {
        return await work();
      } catch (error) {
        if (!signal.aborted && isFailure(error)) this.lastFailure = { message: this.#textOf(error), at: this.#clock.millis() };
        throw error;
      }
    });
  }

  isBackground(signal: AbortSignal): boolean {
    return this.#circuit.isBackground(signal);
  }

  configure(settings: CircuitSettings): void {
    this.#circuit.configure(settings);
  }

  status(): CircuitStatus {
    return this.#circuit.status();
  }

  reset(): void {
    this.#circuit.reset();
  }
}

function isFailure(error: unknown): boolean {
  return error instanceof UpstreamFailed ? !error.answered : !(error instanceof EngineError);
}
