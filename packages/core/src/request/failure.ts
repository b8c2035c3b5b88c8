import { EngineError, InternalError, Unavailable, type Clock, type Log } from '@strongroom/engine-sdk';
import { StorageFailure } from '@strongroom/storage-sdk';
import { BarrierSealed } from '../kernel/barrier/barrier.ts';
import { CorruptRecord } from '../kernel/barrier/key-ring.ts';
import { emptyResponse, type CoreResponse } from '../kernel/call/core-response.ts';
import { RepeatedFault } from '../kernel/faults/repeated-fault.ts';

/** Characters of one error that a caller is shown: it may repeat what was sent. */
const LONGEST = 4_096;

/** There is no room for what the call would write. 507. */
class NoRoom extends EngineError {
  override readonly status = 507;
}

/** What the call would write is larger than the store takes at once. 413. */
class TooLarge extends EngineError {
  override readonly status = 413;
}

/** The one place where what was thrown becomes what is answered. While the store fails, the log has one line a minute for each kind of failure. */
export class Failures {
  readonly #log: Log;
  readonly #storeSlow: RepeatedFault;
  readonly #storeFull: RepeatedFault;
  readonly #storeFailed: RepeatedFault;

  constructor(options: { readonly clock: Clock; readonly log: Log }) {
    this.#log = options.log;
    this.#storeSlow = new RepeatedFault({
      ...options,
      level: 'warn',
      message: 'the store could not serve a request; the same request may succeed now',
    });
    this.#storeFull = new RepeatedFault({ ...options, level: 'error', message: 'the store is full' });
    this.#storeFailed = new RepeatedFault({ ...options, level: 'error', message: 'the store failed' });
  }

  /** `id`: of the request. */
  of(thrown: unknown, id: string): EngineError {
    const log = this.#log;
    if (thrown instanceof EngineError) {
      if (thrown.cause !== undefined && thrown.status >= 500) log.error(thrown.message, { request_id: id, cause: String(thrown.cause) });
      return thrown;
    }
    if (thrown instanceof BarrierSealed) return new Unavailable('Vault is sealed');
    if (thrown instanceof StorageFailure) return this.#ofStore(thrown, id);
    if (thrown instanceof CorruptRecord) {
      log.error('a stored record is damaged', { request_id: id, error: thrown.message });
      return new InternalError(thrown.message, { cause: thrown });
    }
    log.error('a request failed because of a bug in the server', {
      request_id: id,
      error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    });
    return new InternalError('internal error', { cause: thrown });
  }

  #ofStore(failure: StorageFailure, id: string): EngineError {
    const { message } = failure;
    if (failure.transient) {
      this.#storeSlow.happened(message, { request_id: id });
      return new Unavailable(message, { headers: { 'Retry-After': '1' } });
    }
    if (failure.tooLarge) {
      this.#log.warn('the store does not take so much at once', { request_id: id, error: message });
      return new TooLarge(message);
    }
    if (failure.full) {
      this.#storeFull.happened(message, { request_id: id });
      return new NoRoom(message);
    }
    this.#storeFailed.happened(message, { request_id: id });
    return new InternalError(message, { cause: failure });
  }
}

/** `hints`: what the caller may want to know besides. */
export function failedResponse(id: string, failure: EngineError, hints: readonly string[] = []): CoreResponse {
  return {
    ...emptyResponse(id, failure.status),
    errors: [...failure.errors, ...hints].map((text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)),
    data: failure.data ?? null,
    ...(failure.headers ? { headers: failure.headers } : {}),
  };
}
