import type { SealHost } from '@strongroom/seal-sdk';
import type { TransitClient } from './transit-client.ts';

/** After a renewal that failed. Milliseconds. */
const AGAIN = 30_000;
/** How long one renewal may take. Milliseconds. */
const DEADLINE = 30_000;

/** Renews the token of a session at half of its lifetime. A token without an end is not renewed. */
export class TokenRenewal {
  readonly #client: TransitClient;
  readonly #host: SealHost;
  #cancel: (() => void) | undefined;
  #ended = false;

  constructor(client: TransitClient, host: SealHost) {
    this.#client = client;
    this.#host = host;
  }

  start(): void {
    this.#plan(0);
  }

  stop(): void {
    this.#ended = true;
    this.#cancel?.();
  }

  #plan(millis: number): void {
    if (this.#ended) return;
    this.#cancel = this.#host.clock.after(millis, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    try {
      const { auth } = await this.#client.put('auth/token/renew-self', {}, AbortSignal.timeout(DEADLINE));
      const { lease_duration: seconds, renewable } = (auth ?? {}) as { lease_duration?: unknown; renewable?: unknown };
      if (renewable === true && typeof seconds === 'number' && seconds > 0) this.#plan(seconds * 500);
    } catch (error) {
      if (this.#ended) return;
      // A root token is not renewable, and does not end.
      const { status, message } = error as Error & { status?: number };
      if (status === 400 && /not renewable/.test(message)) return;
      this.#host.log.warn('the token of the transit seal could not be renewed', { reason: message });
      this.#plan(AGAIN);
    }
  }
}
