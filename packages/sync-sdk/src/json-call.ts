import http from 'node:http';
import https from 'node:https';
import type { NetworkGuard } from './network-guard.ts';

/** Bytes of an answer: far more than a page of names has. */
const LONGEST_ANSWER = 16 * 1_048_576;

/** One call to an API over HTTP whose answers are JSON. */
export interface JsonCall {
  readonly method: string;
  /** `http` or `https`, with the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as it is sent, and its media type. */
  readonly body?: { readonly type: string; readonly text: string };
  /** PEM of the only certificates to trust; by default the usual ones. */
  readonly ca?: string | undefined;
  /** The name that the server's certificate must have; by default the host of the URL. */
  readonly serverName?: string | undefined;
}

/** What the API answered, be it a success or a refusal. */
export interface JsonAnswer {
  readonly status: number;
  /** Undefined where it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
}

/**
 * Makes a call through the guard of the host. It follows no redirect: credentials are for the server that the destination names. Rejects with what the socket
 * says.
 */
export async function jsonCall(network: NetworkGuard, call: JsonCall, signal: AbortSignal): Promise<JsonAnswer> {
  const { method, body, ca, serverName } = call;
  const url = new URL(call.url);
  const headers = {
    accept: 'application/json',
    'user-agent': 'strongroom-sync',
    ...call.headers,
    // Of a DELETE, Node would send the body without it, and the server would take it for the next request.
    ...(body === undefined ? {} : { 'content-type': body.type, 'content-length': Buffer.byteLength(body.text) }),
  };
  const options = { method, headers, signal };
  const trust = { ...(ca === undefined ? {} : { ca }), ...(serverName === undefined ? {} : { servername: serverName }) };
  const request =
    url.protocol === 'https:'
      ? https.request(url, { ...options, ...trust, agent: network.httpsAgent })
      : http.request(url, { ...options, agent: network.httpAgent });
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end(body?.text);
  });
  return {
    status: answer.statusCode ?? 0,
    body: parse(await textOf(answer)),
    header: (name) => [answer.headers[name]].flat()[0],
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
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
