import type { Core, CoreRequest, CoreResponse } from '@strongroom/core';
import { parseDuration } from '@strongroom/engine-sdk';

const OPERATIONS: Readonly<Record<string, CoreRequest['operation']>> = {
  GET: 'read',
  LIST: 'list',
  SCAN: 'scan',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  HEAD: 'header',
};

/** What a call carries beside its method and path. */
export interface Asked {
  readonly body?: unknown;
  readonly token?: string | undefined;
  /** As the header `X-Vault-Wrap-TTL` says it: `5m`, `60`. */
  readonly wrap?: string | undefined;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly remoteAddress?: string | undefined;
  /** What the listener lets callers without a token do with their key shares. */
  readonly tokenless?: CoreRequest['tokenless'];
}

/** Asks the core what a client asks by HTTP. `asked` is a method and a path below `/v1/`, maybe with a query. */
export async function ask(
  core: Core,
  asked: string,
  { body, token, wrap, headers, remoteAddress, tokenless }: Asked = {},
): Promise<CoreResponse> {
  const [method, target] = asked.split(' ') as [string, string];
  const [path, search] = target.split('?') as [string, string | undefined];
  const query = Object.fromEntries(new URLSearchParams(search ?? ''));
  const { list, scan, help, ...rest } = query;
  const operation = help !== undefined ? 'help' : list === 'true' ? 'list' : scan === 'true' ? 'scan' : OPERATIONS[method]!;
  return core.handle({
    operation,
    path,
    data: (body as Record<string, unknown> | undefined) ?? rest,
    ...(token === undefined ? {} : { token }),
    ...(wrap === undefined ? {} : { wrapTtl: parseDuration(wrap) }),
    ...(headers === undefined ? {} : { headers }),
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
    ...(tokenless === undefined ? {} : { tokenless }),
  });
}

/** The body that clients see: JSON, or the text of any other media type; undefined for an answer without one. */
export function bodyOf(answer: CoreResponse): unknown {
  if (answer.errors) return { errors: answer.errors, ...(answer.data === null ? {} : { data: answer.data }) };
  if (answer.raw && !answer.raw.contentType.startsWith('application/json')) return String(answer.raw.body);
  if (answer.raw) return answer.raw.body === '' ? undefined : (JSON.parse(answer.raw.body as string) as unknown);
  if (answer.status === 204) return undefined;
  return {
    ...(answer.flattened ? (answer.data as object) : {}),
    request_id: answer.requestId,
    lease_id: answer.leaseId,
    renewable: answer.renewable,
    lease_duration: answer.leaseDuration,
    data: answer.data,
    wrap_info: answer.wrapInfo,
    warnings: answer.warnings,
    auth: answer.pendingAuth ?? answer.auth,
  };
}
