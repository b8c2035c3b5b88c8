import http from 'node:http';
import https from 'node:https';
import { objectOf } from '@strongroom/kubernetes-client';
import type { NetworkGuard } from '@strongroom/sync-sdk';

/** Bytes of an answer: far more than a page of metadata has. */
const LONGEST_ANSWER = 16 * 1_048_576;

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

/** Makes a call through the guard of the host, and follows no redirect: a token is for its own API server. Rejects with what the socket says. */
export async function apiCall(network: NetworkGuard, target: Target, call: ApiCall, signal: AbortSignal): Promise<ApiAnswer> {
  const url = new URL(target.url + call.path);
  const text = call.body === undefined ? undefined : JSON.stringify(call.body.json);
  const headers = {
    accept: call.accept ?? 'application/json',
    authorization: `Bearer ${target.bearer}`,
    'user-agent': 'strongroom-sync',
    // Of a DELETE, Node would send the body without it, and the server would take it for the next request.
    ...(text === undefined ? {} : { 'content-type': call.body!.type, 'content-length': Buffer.byteLength(text) }),
  };
  const options = { method: call.method, headers, signal };
  const request =
    url.protocol === 'https:'
      ? https.request(url, { ...options, agent: network.httpsAgent, ...(target.ca === undefined ? {} : { ca: target.ca }) })
      : http.request(url, { ...options, agent: network.httpAgent });
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end(text);
  });
  const header = (name: string): string | undefined => [answer.headers[name]].flat()[0];
  return {
    status: answer.statusCode ?? 0,
    body: parse(await textOf(answer)),
    retryAfter: header('retry-after'),
    auditId: header('audit-id'),
  };
}

async function textOf(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LONGEST_ANSWER) throw new Error(`the answer is longer than ${LONGEST_ANSWER} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
