import { BadRequest, InternalError, UpstreamFailed, UpstreamLimited } from '@strongroom/engine-sdk';
import { isSyncError, secretsOf, type SyncDestinationPlugin, type Throttled } from '@strongroom/sync-sdk';
import { placeOf, type DestinationRecord } from './records.ts';
import { failureOf } from './sync-status.ts';

/** What a request answers when the provider fails it: the provider's name, text, code and request id. */
export function callFailed(plugin: SyncDestinationPlugin, destination: DestinationRecord, error: unknown): unknown {
  if (!isSyncError(error)) return error;
  const { message, code, request_id } = failureOf(error, secretsOf(plugin.connection, destination.connection)).error;
  const id = request_id === undefined ? '' : `, request id ${request_id}`;
  const text = `${plugin.title} (${placeOf(destination)}): ${message} (${code}${id})`;
  if (error.code === 'session_closed') return new InternalError(text);
  if (error.code === 'configuration_invalid' || error.code === 'address_refused') return new BadRequest(text);
  if (error.code !== 'throttled') return new UpstreamFailed(text);
  const { retryAfterSeconds } = error as Throttled;
  return new UpstreamLimited(text, retryAfterSeconds === undefined ? {} : { headers: { 'Retry-After': String(retryAfterSeconds) } });
}
