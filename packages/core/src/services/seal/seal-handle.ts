import { withDeadline, type Clock } from '@strongroom/engine-sdk';
import { isSealError, type SealSession, type WrappedBlob } from '@strongroom/seal-sdk';
import { randomBytes } from '../../kernel/random/random-bytes.ts';
import { HEALTH_DEFAULTS, type ConfiguredSeal, type SealHealthSettings } from './configured-seal.ts';
import { sameSecret } from './same-secret.ts';
import { SealFailure, WrongAnswer } from './seal-failure.ts';

/** One call may take so long: then the next seal is asked. Milliseconds. */
const CALL = 10_000;

/** One seal of the configuration: its calls have deadlines, and each failure is a SealFailure. */
export class SealHandle {
  readonly type: string;
  readonly name: string;
  readonly priority: number;
  readonly disabled: boolean;
  readonly health: SealHealthSettings;
  readonly #configured: ConfiguredSeal;
  readonly #clock: Clock;
  #session: Promise<SealSession> | undefined;
  readonly #ended = new AbortController();

  constructor(configured: ConfiguredSeal, clock: Clock) {
    this.type = configured.type;
    this.name = configured.name ?? configured.type;
    this.priority = configured.priority ?? 1;
    this.disabled = configured.disabled ?? false;
    this.health = configured.health ?? HEALTH_DEFAULTS;
    this.#configured = configured;
    this.#clock = clock;
  }

  /** @throws SealFailure */
  async wrap(plain: Uint8Array, aad: string, millis = CALL): Promise<WrappedBlob> {
    return this.#call(millis, async (session, signal) => session.wrap({ plain, aad: Buffer.from(aad), signal }));
  }

  /** @throws SealFailure */
  async unwrap(blob: Uint8Array, aad: string, millis = CALL): Promise<Buffer> {
    return Buffer.from(await this.#call(millis, async (session, signal) => session.unwrap({ blob, aad: Buffer.from(aad), signal })));
  }

  /** The version of the key that wraps now. @throws SealFailure */
  async keyId(): Promise<string> {
    return this.#call(CALL, async (session, signal) => session.keyId({ signal }));
  }

  /** Wraps and unwraps random bytes. @throws SealFailure */
  async check(): Promise<void> {
    const plain = randomBytes(32);
    const aad = 'seal-health';
    const { blob } = await this.wrap(plain, aad, this.health.timeout);
    const opened = await this.unwrap(blob, aad, this.health.timeout);
    if (!sameSecret(opened, plain)) throw new SealFailure(this.name, new WrongAnswer());
  }

  /** Ends the session, and what still waits for an answer. Later calls fail. */
  async close(): Promise<void> {
    this.#ended.abort(new Error('the server stops'));
    const session = this.#session;
    this.#session = undefined;
    await (await session?.catch(() => undefined))?.close().catch(() => undefined);
  }

  async #call<T>(millis: number, work: (session: SealSession, signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withDeadline({ clock: this.#clock, millis, parent: this.#ended.signal }, async (signal) =>
        work(await this.#opened(), signal),
      );
    } catch (error) {
      if (isSealError(error, 'seal_closed')) this.#session = undefined;
      throw new SealFailure(this.name, error);
    }
  }

  async #opened(): Promise<SealSession> {
    this.#session ??= this.#configured.open();
    try {
      return await this.#session;
    } catch (error) {
      this.#session = undefined;
      throw error;
    }
  }
}
