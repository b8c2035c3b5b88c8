/** How a check ended. A `failure` keeps the server from starting or working; a `warning` should be dealt with. */
export type FindingStatus = 'ok' | 'warning' | 'failure' | 'skipped';

/** What one check found. */
export interface Finding {
  /** What was checked: `storage`, `listener tcp 0.0.0.0:8200`. */
  readonly check: string;
  readonly status: FindingStatus;
  /** One sentence; never a secret. */
  readonly message: string;
  /** What to do about it; there with warnings and failures. */
  readonly advice?: string;
}

/** Findings of one check. */
export class Findings {
  readonly all: Finding[] = [];
  readonly #check: string;

  constructor(check: string) {
    this.#check = check;
  }

  ok(message: string): void {
    this.all.push({ check: this.#check, status: 'ok', message });
  }

  skipped(message: string): void {
    this.all.push({ check: this.#check, status: 'skipped', message });
  }

  warning(message: string, advice: string): void {
    this.all.push({ check: this.#check, status: 'warning', message, advice });
  }

  failure(message: string, advice: string): void {
    this.all.push({ check: this.#check, status: 'failure', message, advice });
  }
}

/** What a failed call of the system says of itself. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
