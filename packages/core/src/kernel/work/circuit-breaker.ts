import type { CircuitSettings, CircuitStatus, Clock } from '@strongroom/engine-sdk';

interface Circuit {
  settings: Required<CircuitSettings>;
  failures: number;
  /** Milliseconds: the first failure since the last success, and the opening; 0 for none. */
  failingSince: number;
  openedAt: number;
  openUntil: number;
  trying: boolean;
}

const DEFAULTS: Required<CircuitSettings> = { threshold: 5, pause: 5_000, longestPause: 60_000 };

/**
 * One circuit breaker for each target. It opens after some failures in a row: no call is made until a pause is over. Then it is half-open: one call at a time is
 * the trial, which closes it or opens it again for twice as long.
 */
export class CircuitBreakers {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();
  readonly #settings = new Map<string, CircuitSettings>();
  #changed: (target: string, state: 'opened' | 'closed') => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on, the listener hears when a breaker opens, and when one that was open is closed. It must not throw. */
  onChange(listener: (target: string, state: 'opened' | 'closed') => void): void {
    this.#changed = listener;
  }

  /** From now on for this target; undefined for the defaults. */
  configure(target: string, settings: CircuitSettings | undefined): void {
    if (settings) this.#settings.set(target, settings);
    else this.#settings.delete(target);
    const circuit = this.#circuits.get(target);
    if (circuit) circuit.settings = this.#settingsOf(target);
  }

  /** Milliseconds to wait; 0 when the target may be tried now. While a pause is over, one trial at a time goes through. */
  wait(target: string | undefined): number {
    const left = this.peek(target);
    const circuit = target === undefined ? undefined : this.#circuits.get(target);
    if (left === 0 && circuit && isOpen(circuit)) circuit.trying = true;
    return left;
  }

  /** As `wait`, without taking the place of the trial. */
  peek(target: string | undefined): number {
    const circuit = target === undefined ? undefined : this.#circuits.get(target);
    if (!circuit || !isOpen(circuit)) return 0;
    const { pause, longestPause } = circuit.settings;
    // The clock may have been set back.
    const left = Math.min(circuit.openUntil - this.#clock.millis(), Math.max(longestPause, pause));
    if (left > 0) return left;
    return circuit.trying ? pause : 0;
  }

  succeeded(target: string | undefined): void {
    const circuit = target === undefined ? undefined : this.#circuits.get(target);
    if (target === undefined || !circuit) return;
    this.#circuits.delete(target);
    if (isOpen(circuit)) this.#changed(target, 'closed');
  }

  /** The trial was not made after all, or says nothing about the target. */
  released(target: string | undefined): void {
    const circuit = target === undefined ? undefined : this.#circuits.get(target);
    if (circuit) circuit.trying = false;
  }

  failed(target: string | undefined): void {
    if (target === undefined) return;
    const now = this.#clock.millis();
    const settings = this.#settingsOf(target);
    const circuit = this.#circuits.get(target) ?? { settings, failures: 0, failingSince: now, openedAt: 0, openUntil: 0, trying: false };
    // The end of a call that began before the circuit opened: it does not lengthen the pause.
    if (isOpen(circuit) && !circuit.trying && now < circuit.openUntil) return;
    circuit.failures += 1;
    circuit.trying = false;
    const { threshold, pause, longestPause } = circuit.settings;
    const doublings = Math.min(10, Math.max(0, circuit.failures - threshold));
    circuit.openUntil = now + Math.min(Math.max(longestPause, pause), pause * 2 ** doublings);
    this.#circuits.set(target, circuit);
    if (!isOpen(circuit) || circuit.openedAt !== 0) return;
    circuit.openedAt = now;
    this.#changed(target, 'opened');
  }

  /** An operator asks for a try now instead of at the end of the pause, as after a repair. */
  close(target: string): void {
    this.succeeded(target);
  }

  status(target: string): CircuitStatus {
    const circuit = this.#circuits.get(target);
    if (!circuit) return { state: 'closed', failures: 0 };
    const { failures } = circuit;
    if (!isOpen(circuit)) return { state: 'closed', failures, since: new Date(circuit.failingSince) };
    const over = circuit.openUntil <= this.#clock.millis();
    return {
      state: over ? 'half-open' : 'open',
      failures,
      since: new Date(circuit.openedAt),
      nextTry: new Date(Math.max(circuit.openUntil, this.#clock.millis())),
    };
  }

  /** For operators: which are open, and until when. */
  open(): { target: string; failures: number; until: Date }[] {
    return [...this.#circuits]
      .filter(([, circuit]) => isOpen(circuit))
      .map(([target, circuit]) => ({ target, failures: circuit.failures, until: new Date(circuit.openUntil) }));
  }

  /** For operators: all with failures since the last success, open or not. */
  failing(): { target: string; status: CircuitStatus }[] {
    return [...this.#circuits.keys()].sort().map((target) => ({ target, status: this.status(target) }));
  }

  #settingsOf(target: string): Required<CircuitSettings> {
    return { ...DEFAULTS, ...this.#settings.get(target) };
  }
}

function isOpen({ failures, settings }: Circuit): boolean {
  return settings.threshold > 0 && failures >= settings.threshold;
}
