import { jsonCall, type NetworkGuard } from '@strongroom/sync-sdk';

/** Where calls go, and who vouches for it. */
export interface Target {
  /** Without a slash at its end; with a path where a proxy serves several clusters. */
  readonly url: string;
  /** PEM; undefined for `http`. */
  readonly ca: string | undefined;
  readonly bearer: string;
}

/** One call. */
export interface ApiCall {
  readonly method: 'GET' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: { readonly type: string; readonly json: object };
}

/** What the API server answered, be it a success or a refusal. */
export interface ApiAnswer {
  readonly status: number;
  /** Undefined where it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfter: string | undefined;
  /** By which the API server's own log of audits names the call. */
  readonly auditId: string | undefined;
}

/** Makes a call through the guard of the host. Rejects with what the socket says. */
export async function apiCall(network: NetworkGuard, target: Target, call: ApiCall, signal: AbortSignal): Promise<ApiAnswer> {
  const { status, body, header } = await jsonCall(
    network,
    {
      method: call.method,
      url: target.url + call.path,
      headers: { accept: call.accept ?? 'application/json', authorization: `Bearer ${target.bearer}` },
      ...(call.body === undefined ? {} : { body: { type: call.body.type, text: JSON.stringify(call.body.json) } }),
      ca: target.ca,
    },
    signal,
  );
  return { status, body, retryAfter: header('retry-after'), auditId: header('audit-id') };
}
