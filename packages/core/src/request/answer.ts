import { NotFound, type EngineResponse, type StreamedBody } from '@strongroom/engine-sdk';
import type { Mount } from '../kernel/mounts/mount.ts';
import type { Call } from './call.ts';
import { emptyResponse, type CoreResponse } from '../kernel/call/core-response.ts';
import { replyOf } from '../services/caller/internal-request.ts';

/** Makes the envelope of what the engine returned; leases and tokens are filled in by the next step. @throws NotFound for a read of nothing. */
export function answerOf(call: Call, response: EngineResponse | undefined, warnings: readonly string[]): CoreResponse {
  const listing = call.operation === 'list' || call.operation === 'scan';
  const reading = call.operation === 'read' || listing;
  if (response === undefined) {
    if (reading) throw new NotFound();
    return warnings.length === 0 ? emptyResponse(call.id) : { ...emptyResponse(call.id, 200), warnings };
  }
  const all = response.warnings?.length || warnings.length ? [...(response.warnings ?? []), ...warnings] : null;
  if (listing && !all && isEmptyList(response.data)) throw new NotFound();
  const base: CoreResponse = {
    // A 204 has no body that could say them.
    ...emptyResponse(call.id, response.status === 204 && all ? 200 : (response.status ?? 200)),
    leaseDuration: response.leaseDuration ?? 0,
    data: response.data ?? null,
    warnings: all,
    ...(response.raw ? { raw: response.raw } : {}),
    ...(response.stream ? { stream: endingWith(call.mount, response.stream) } : {}),
    ...(response.headers ? { headers: response.headers } : {}),
    ...(response.accessor === undefined ? {} : { accessor: response.accessor }),
    ...(isFlattened(call.path) ? { flattened: true } : {}),
  };
  const parts = replyOf(response);
  if (!parts) return base;
  const both = parts.warnings && all ? [...parts.warnings, ...all] : (parts.warnings ?? all);
  return { ...base, ...parts, requestId: call.id, warnings: both };
}

/** The same body, which also ends with its mount, or when the server is sealed. */
function endingWith(mount: Mount | undefined, body: StreamedBody): StreamedBody {
  if (!mount) return body;
  const { ending } = mount;
  return {
    contentType: body.contentType,
    cancel: async () => body.cancel?.(),
    async *open(signal) {
      const over = new AbortController();
      const stop = ending.heard((reason) => over.abort(reason));
      try {
        yield* body.open(AbortSignal.any([signal, over.signal]));
      } finally {
        stop();
      }
    },
  };
}

function isEmptyList(data: unknown): boolean {
  if (data === undefined || data === null) return true;
  const { keys, ...others } = data as { keys?: unknown };
  if (!Array.isArray(keys) || keys.length > 0) return false;
  const info = (others as { key_info?: object }).key_info;
  return Object.keys(others).length === 0 || (Object.keys(others).length === 1 && info !== undefined && Object.keys(info).length === 0);
}

const FLATTENED =
  /^sys\/(?:audit(?:-hash\/.+)?|auth(?:\/.+)?|mounts(?:\/.+)?|config\/cors|config\/auditing\/request-headers(?:\/.+)?|capabilities(?:-self|-accessor)?|ha-status|key-status|policy(?:\/.*)?|rekey\/(?:backup|recovery-key-backup)|rotate(?:\/keyring|\/root\/backup|\/recovery\/backup)?|remount|wrapping\/wrap)$/;

function isFlattened(path: string): boolean {
  return path.startsWith('sys/') && FLATTENED.test(path.endsWith('/') && path.startsWith('sys/policy') ? path.slice(0, -1) : path);
}
