import type { Clock } from '@strongroom/engine-sdk';

/** Requests under way together: who changes what they run on can wait until the last one has left. */
export class Crowd {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  get busy(): boolean {
    return this.#count > 0;
  }

  /** Resolves as the request does. */
  serve<T>(request: () => Promise<T>): Promise<T> {
    this.#count += 1;
    try {
      const running = request();
      void running.then(this.#leave, this.#leave);
      return running;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  readonly #leave = (): void => {
    this.#count -= 1;
    if (this.#count === 0) for (const left of [...this.#waiting]) left();
  };

  /** Resolves when no request is under way, or after this many milliseconds. */
  async gone(clock: Clock, millis: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const leave = (): void => {
        this.#waiting.delete(leave);
        cancel();
        resolve();
      };
      const cancel = clock.after(millis, leave);
      this.#waiting.add(leave);
    });
  }
}
