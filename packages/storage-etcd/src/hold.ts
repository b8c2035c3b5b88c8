import type { Session } from './session.ts';
import { put, remove } from './wire.ts';

/** Often enough to be seen as alive by every round of the housekeeping. */
const RENEW_MS = 60_000;

/** Keeps the housekeeping of any process from removing what is at work here. */
export class Hold {
  readonly #session: Session;
  readonly #key: Buffer;
  readonly #value: Buffer;
  readonly #timer: NodeJS.Timeout;

  private constructor(session: Session, key: Buffer, value: Buffer) {
    this.#session = session;
    this.#key = key;
    this.#value = value;
    this.#timer = setInterval(() => void this.#renew().catch(() => undefined), RENEW_MS).unref();
  }

  /** @throws StorageFailure, and what gRPC throws where etcd refuses */
  static async take(session: Session, key: Buffer, what: { readonly revision?: number; readonly generation?: string }): Promise<Hold> {
    const hold = new Hold(session, key, Buffer.from(JSON.stringify(what)));
    try {
      await hold.#renew();
      return hold;
    } catch (error) {
      clearInterval(hold.#timer);
      throw error;
    }
  }

  /** Never rejects: what is left is removed by the housekeeping. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#session.once({ success: [remove(this.#key)] }).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    await this.#session.once({ success: [put(this.#key, this.#value)] });
  }
}
