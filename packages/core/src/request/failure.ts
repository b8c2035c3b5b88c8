import { EngineError, InternalError, Unavailable, type Log } from '@strongroom/engine-sdk';
import { StorageFailure } from '@strongroom/storage-sdk';
import { BarrierSealed } from '../kernel/barrier/barrier.ts';
import { CorruptRecord } from '../kernel/barrier/key-ring.ts';
import { emptyResponse, type CoreResponse } from '../kernel/call/core-response.ts';

/** There is no room for what the call would write. 507. */
class NoRoom extends EngineError {
  override readonly status = 507;
}

/** What the call would write is larger than the store takes at once. 413. */
class TooLarge extends EngineError {
  override readonly status = 413;
}

/** The one place where what was thrown becomes what is answered. */
export function failureOf(thrown: unknown, log: Log, id: string): EngineError {
  if (thrown instanceof EngineError) {
    if (thrown.cause !== undefined && thrown.status >= 500) log.error(thrown.message, { request_id: id, cause: String(thrown.cause) });
    return thrown;
  }
  if (thrown instanceof BarrierSealed) return new Unavailable('Vault is sealed');
  if (thrown instanceof StorageFailure) {
    if (thrown.transient) {
      log.warn('the store did not answer in time', { request_id: id, error: thrown.message });
      return new Unavailable(thrown.message, { headers: { 'Retry-After': '1' } });
    }
    if (thrown.tooLarge) {
      log.warn('the store does not take so much at once', { request_id: id, error: thrown.message });
      return new TooLarge(thrown.message);
    }
    if (thrown.full) {
      log.error('the store is full', { request_id: id, error: thrown.message });
      return new NoRoom(thrown.message);
    }
    log.error('the store failed', { request_id: id, error: thrown.message });
    return new InternalError(thrown.message, { cause: thrown });
  }
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

export function failedResponse(id: string, failure: EngineError): CoreResponse {
  return {
    ...emptyResponse(id, failure.status),
    errors: failure.errors,
    data: failure.data ?? null,
    ...(failure.headers ? { headers: failure.headers } : {}),
  };
}
