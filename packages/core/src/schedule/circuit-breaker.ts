import type { Clock } from '@strongroom/engine-sdk';

interface Circuit {
  failures: number;
  openUntil: number;
  trying: boolean;
}

/** After this many failures in a row a target is left alone for a while. */
const THRESHOLD = 5;
const FIRST_PAUSE = 5_000;
const LONGEST_PAUSE = 60_000;

/** One dead database must not hold up the others: work for a target that keeps failing is put off without being tried. */
export class CircuitBreakers {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds to wait; 0 when the target may be tried now. While a pause is over, one trial at a time goes through. */
  wait(target: string | undefined): number {
    if (target === undefined) return 0;
    const circuit = this.#circuits.get(target);
    if (!circuit || circuit.failures < THRESHOLD) return 0;
    // The clock may have been set back.
    const left = Math.min(circuit.openUntil - this.#clock.millis(), LONGEST_PAUSE);
    if (left > 0) return left;
    if (circuit.trying) return FIRST_PAUSE;
    circuit.trying = true;
    return 0;
  }

  succeeded(target: string | undefined): void {
    if (target !== undefined) this.#circuits.delete(target);
  }

  /** The trial was not made after all. */
  released(target: string | undefined): void {
    const circuit = target === undefined ? undefined : this.#circuits.get(target);
    if (circuit) circuit.trying = false;
  }

  failed(target: string | undefined): void {
    if (target === undefined) return;
    const circuit = this.#circuits.get(target) ?? { failures: 0, openUntil: 0, trying: false };
    circuit.failures += 1;
    circuit.trying = false;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(10, Math.max(0, circuit.failures - THRESHOLD)));
    circuit.openUntil = this.#clock.millis() + pause;
    this.#circuits.set(target, circuit);
  }

  /** For operators: which targets are being left alone, and until when. */
  open(): { target: string; failures: number; until: Date }[] {
    return [...this.#circuits]
      .filter(([, circuit]) => circuit.failures >= THRESHOLD)
      .map(([target, circuit]) => ({ target, failures: circuit.failures, until: new Date(circuit.openUntil) }));
  }
}
