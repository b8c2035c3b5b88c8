import { ApiError } from './api-error.ts';
import { readExact } from './exact-json.ts';
import { isLacking } from './own-routes.ts';
import { isUnknownToken } from './refused-token.ts';
import { token } from './token.ts';

export type Method = 'GET' | 'LIST' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'SCAN';

export interface Call {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** The answer is wrapped for this long, such as `5m`. */
  readonly wrapTtl?: string | undefined;
  /** Another token than the session's; `null` for none. */
  readonly token?: string | null | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Numbers of the answer keep their digits: `readExact`. */
  readonly exact?: boolean | undefined;
}

/** What the server answered, with the envelope's fields that pages use. */
export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly data: T;
  readonly requestId: string | undefined;
  readonly warnings: readonly string[];
  readonly leaseId: string;
  readonly leaseDuration: number;
  readonly renewable: boolean;
  readonly auth: Auth | null;
  readonly wrapInfo: WrapInfo | null;
  /** The whole body, for paths that answer outside the envelope; text where it is no JSON. */
  readonly body: unknown;
}

export interface Auth {
  readonly client_token: string;
  readonly accessor: string;
  readonly policies: readonly string[];
  readonly token_policies?: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly lease_duration: number;
  readonly renewable: boolean;
  readonly entity_id: string;
  readonly mfa_requirement?: unknown;
}

export interface WrapInfo {
  readonly token: string;
  readonly accessor: string;
  readonly ttl: number;
  readonly creation_time: string;
  readonly creation_path: string;
}

const refusals = new Set<() => void>();

/** Calls the listener whenever the server does not know the session's token. */
export function onUnknownToken(listener: () => void): void {
  refusals.add(listener);
}

const VERBS: Partial<Record<Method, string>> = { LIST: 'GET', SCAN: 'GET' };

/**
 * Calls the API. `path` is below `/v1/` and encoded (see `apiPath`).
 * @throws ApiError for an answer of 400 or more, and with status 0 when the server cannot be reached
 */
export async function send<T = Record<string, unknown>>(method: Method, path: string, call: Call = {}): Promise<Answer<T>> {
  if (isLacking(path)) throw new ApiError({ status: 404, errors: ['This server has no such path.'], method, path });
  const response = await fetch(urlOf(method, path, call), {
    method: VERBS[method] ?? method,
    headers: headersOf(method, call),
    body: call.body === undefined ? null : JSON.stringify(call.body),
    signal: call.signal ?? null,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  }).catch((error: unknown) => {
    if (call.signal?.aborted) throw error;
    throw new ApiError({ status: 0, errors: ['The server cannot be reached.'], method, path });
  });
  const text = await response.text();
  const requestId = response.headers.get('X-Strongroom-Request-Id') ?? undefined;
  const body = parsed(text, call.exact ? readExact : JSON.parse);
  if (!response.ok) {
    const errors = (body as { errors?: unknown } | null)?.errors;
    const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
    const error = new ApiError({
      status: response.status,
      errors: Array.isArray(errors) ? errors.map(String) : [],
      method,
      path,
      requestId,
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
      body,
    });
    if (call.token === undefined && isUnknownToken(error)) for (const listener of refusals) listener();
    throw error;
  }
  const envelope = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return {
    status: response.status,
    data: (envelope.data ?? {}) as T,
    requestId: requestId ?? (envelope.request_id as string | undefined),
    warnings: (envelope.warnings as string[] | null | undefined) ?? [],
    leaseId: (envelope.lease_id as string | undefined) ?? '',
    leaseDuration: (envelope.lease_duration as number | undefined) ?? 0,
    renewable: envelope.renewable === true,
    auth: (envelope.auth as Auth | null | undefined) ?? null,
    wrapInfo: (envelope.wrap_info as WrapInfo | null | undefined) ?? null,
    body,
  };
}

function urlOf(method: Method, path: string, call: Call): string {
  const query = new URLSearchParams();
  if (method === 'LIST') query.set('list', 'true');
  if (method === 'SCAN') query.set('scan', 'true');
  for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) query.set(name, String(value));
  const asked = query.toString();
  return `/v1/${path}${asked === '' ? '' : `?${asked}`}`;
}

function headersOf(method: Method, call: Call): Headers {
  const headers = new Headers({ 'X-Vault-Request': 'true' });
  const used = call.token === undefined ? token.current() : call.token;
  if (used) headers.set('X-Vault-Token', used);
  if (call.body !== undefined) headers.set('Content-Type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
  if (call.wrapTtl !== undefined) headers.set('X-Vault-Wrap-TTL', call.wrapTtl);
  if (call.idempotencyKey !== undefined) headers.set('Idempotency-Key', call.idempotencyKey);
  return headers;
}

function parsed(text: string, read: (text: string) => unknown): unknown {
  if (text === '') return null;
  try {
    return read(text);
  } catch {
    return text;
  }
}
