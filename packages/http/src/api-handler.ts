import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseDuration } from '@strongroom/engine-sdk';
import { AnswerWriter } from './answer-writer.ts';
import { readBody } from './body-reader.ts';
import type { CoreHandler, CoreRequest } from './core-types.ts';
import { HttpCall } from './http-call.ts';
import type { JsonLimits } from './json-complexity.ts';
import { firstOf, parseBool, parseQuery } from './query.ts';
import { Refusal } from './refusal.ts';
import { peerOf, TrustedProxies } from './remote-address.ts';
import { decodeBody, fieldsOf, mediaTypeOf, type RequestData } from './request-body.ts';
import { isPlainPath, requestPath } from './request-path.ts';

/** What a caller of this API has done, for metrics. */
export interface Observation {
  /** `none` for what was answered without asking the core. */
  readonly operation: CoreRequest['operation'] | 'none';
  /** Without `/v1/`; '' with operation `none`. Chosen by the caller: not a label by itself. */
  readonly path: string;
  readonly status: number;
  /** From the request's head to the answer's write. */
  readonly seconds: number;
}

export interface ApiOptions {
  /** Bytes of a body; 32 MiB unless told. */
  readonly maxBodyBytes?: number;
  /** Strings of a JSON body, keys included; 100,000 unless told. */
  readonly maxJsonStrings?: number;
  /** Nesting of a JSON body; 500 unless told. */
  readonly maxJsonDepth?: number;
  /** Addresses and networks whose `X-Forwarded-For` is believed. None unless told. */
  readonly trustedProxies?: readonly string[];
  /** Sent with every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called after each answer. */
  readonly observe?: (observation: Observation) => void;
  /** Told of faults of the server itself, none of which a caller can cause. */
  readonly onFault?: (error: unknown) => void;
}

/** Verbs that change something, and so have a body. */
const OPERATIONS: Readonly<Record<string, CoreRequest['operation']>> = { POST: 'update', PUT: 'update', PATCH: 'patch' };
const MERGE_PATCH = 'application/merge-patch+json';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Headers that this answer has beside the usual ones: names and values in turn. */
  extra: string[] | undefined;
  readonly started: number;
}

/** Turns requests below `/v1/` into calls of the core, and its answers into HTTP. */
export class ApiHandler {
  readonly #core: CoreHandler;
  readonly #writer: AnswerWriter;
  readonly #limits: JsonLimits;
  readonly #maxBodyBytes: number;
  readonly #proxies: TrustedProxies | undefined;
  readonly #observe: ApiOptions['observe'];
  readonly #onFault: ApiOptions['onFault'];

  constructor(core: CoreHandler, options: ApiOptions = {}) {
    this.#core = core;
    this.#writer = new AnswerWriter(options.headers);
    this.#limits = { maxStrings: options.maxJsonStrings ?? 100_000, maxDepth: options.maxJsonDepth ?? 500 };
    this.#maxBodyBytes = options.maxBodyBytes ?? 32 * 1024 * 1024;
    this.#proxies = options.trustedProxies?.length ? new TrustedProxies(options.trustedProxies) : undefined;
    this.#observe = options.observe;
    this.#onFault = options.onFault;
  }

  /** Answers a request. `base` is the API's prefix without closing slash, `target` the rest of the URL behind the slash, with its query. */
  handle(request: IncomingMessage, response: ServerResponse, base: string, target: string): void {
    const exchange: Exchange = { request, response, extra: undefined, started: this.#observe ? performance.now() : 0 };
    try {
      this.#receive(exchange, base, target);
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  /** Refuses a request without looking at it, in the form of the API. */
  refuse(response: ServerResponse, status: number, text: string): void {
    this.#writer.closing(response, status, text === '' ? [] : [text]);
  }

  #receive(exchange: Exchange, base: string, target: string): void {
    const { request } = exchange;
    const { headers } = request;
    const method = request.method ?? '';
    if (headers.origin !== undefined && this.#answeredByCors(exchange, method, headers.origin)) return;
    const mark = target.indexOf('?');
    const raw = mark < 0 ? target : target.slice(0, mark);
    const query = mark < 0 ? '' : target.slice(mark + 1);
    let path = raw;
    if (!isPlainPath(raw)) {
      const found = requestPath(base, raw);
      if (found.redirect !== undefined) {
        this.#redirect(exchange, found.redirect + (mark < 0 ? '' : target.slice(mark)));
        return;
      }
      path = found.path;
    }
    const namespace = headers['x-vault-namespace'];
    if (namespace !== undefined) checkNamespace(exchange, String(namespace));
    if (path === '') throw new Refusal(404);
    const operation = OPERATIONS[method];
    if (operation === undefined) {
      const asked = operationOf(method, query);
      this.#call(exchange, asked.operation, asked.operation === 'list' && !path.endsWith('/') ? `${path}/` : path, asked.data);
    } else {
      if (operation === 'patch') checkPatchType(headers['content-type']);
      this.#withBody(exchange, (data) => {
        this.#call(exchange, operation, path, data);
      });
    }
  }

  #call(exchange: Exchange, operation: CoreRequest['operation'], path: string, data: RequestData | undefined): void {
    const { request, response } = exchange;
    const { headers } = request;
    const ttl = headers['x-vault-wrap-ttl'];
    const call = new HttpCall({
      operation,
      path,
      data,
      token: tokenOf(headers),
      wrapTtl: ttl === undefined ? 0 : wrapTtlOf(String(ttl)),
      headers,
      party: this.#proxies ? this.#proxies.callerOf(request) : peerOf(request),
      response,
    });
    this.#core.handle(call).then(
      (answer) => {
        try {
          this.#writer.answer(response, answer, exchange.extra);
          if (this.#observe) this.#observed(exchange, operation, path, answer.status);
        } catch (error) {
          this.#refuse(exchange, error);
        }
      },
      (error: unknown) => {
        this.#refuse(exchange, error);
      },
    );
  }

  /** Continues with the fields of the body, whoever has read it. */
  #withBody(exchange: Exchange, next: (data: RequestData | undefined) => void): void {
    const { request } = exchange;
    const { headers } = request;
    const contentType = headers['content-type'];
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') throw new Refusal(415, 'Content-Encoding: the body must be sent as it is', true);
    const parsed = (request as { body?: unknown }).body;
    if (typeof parsed === 'string' || parsed instanceof Uint8Array) {
      next(decodeBody(typeof parsed === 'string' ? parsed : Buffer.from(parsed).toString(), contentType, this.#limits));
    } else if (parsed !== undefined && request.readableEnded) next(fieldsOf(parsed));
    else if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') next(undefined);
    else if (request.readableEnded) throw new Refusal(400, 'the body was read by another part of this server, which did not pass it on');
    else {
      readBody(request, this.#maxBodyBytes, (body) => {
        try {
          if (body instanceof Refusal) throw body;
          next(decodeBody(body.toString(), contentType, this.#limits));
        } catch (error) {
          this.#refuse(exchange, error);
        }
      });
    }
  }

  /** True when the answer is already given; otherwise the answer to come has the headers of the decision. */
  #answeredByCors(exchange: Exchange, method: string, origin: string): boolean {
    const { request, response } = exchange;
    const decision = this.#core.cors?.decide(method, origin, request.headers['access-control-request-method']);
    if (decision === undefined) return false;
    if (decision.kind === 'refused') throw new Refusal(decision.status, decision.error);
    exchange.extra = Object.entries(decision.headers).flat();
    if (decision.kind === 'pass') return false;
    this.#writer.send(response, 200, 'application/json', '', exchange.extra);
    if (this.#observe) this.#observed(exchange, 'none', '', 200);
    return true;
  }

  #redirect(exchange: Exchange, location: string): void {
    const { request, response } = exchange;
    const status = request.method === 'GET' || request.method === 'HEAD' ? 301 : 307;
    const text = status === 301 ? 'Moved Permanently' : 'Temporary Redirect';
    const safe = location.replace(/[^!#-;=?-\]_a-z~]/g, (char) => encodeURIComponent(char));
    const body = `<a href="${safe.replaceAll('&', '&amp;')}">${text}</a>.\n`;
    this.#writer.send(response, status, 'text/html; charset=utf-8', body, [...(exchange.extra ?? []), 'Location', safe]);
    if (this.#observe) this.#observed(exchange, 'none', '', status);
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { response, extra } = exchange;
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal error');
    if (refusal !== error) this.#onFault?.(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const errors = refusal.text === '' ? [] : [refusal.text];
    if (refusal.closes) this.#writer.closing(response, refusal.status, errors, extra);
    else this.#writer.errors(response, refusal.status, errors, extra);
    if (this.#observe) this.#observed(exchange, 'none', '', refusal.status);
  }

  #observed(exchange: Exchange, operation: Observation['operation'], path: string, status: number): void {
    this.#observe?.({ operation, path, status, seconds: (performance.now() - exchange.started) / 1_000 });
  }
}

/** What verbs without a body ask for. @throws Refusal (400, 405) */
function operationOf(method: string, query: string): { operation: CoreRequest['operation']; data: RequestData | undefined } {
  if (method === 'GET') {
    if (query === '') return { operation: 'read', data: undefined };
    const fields = parseQuery(query, 'the query');
    if (firstOf(fields['help']) !== '') return { operation: 'help', data: undefined };
    const { help: _, ...data } = fields;
    const list = askedFor(data, 'list');
    const scan = askedFor(data, 'scan');
    if (list && scan) throw new Refusal(400);
    if (scan) throw new Refusal(405, 'unsupported operation');
    return { operation: list ? 'list' : 'read', data };
  }
  if (method === 'OPTIONS') throw new Refusal(400, 'cannot handle internal-only request operation');
  if (method === 'SCAN') throw new Refusal(405, 'unsupported operation');
  const operation = method === 'LIST' ? 'list' : method === 'DELETE' ? 'delete' : method === 'HEAD' ? 'header' : undefined;
  if (operation === undefined) throw new Refusal(405);
  if (query === '') return { operation, data: undefined };
  const { help: _, ...data } = parseQuery(query, 'the query');
  return { operation, data };
}

/** Takes the flag out of the query when it is set. @throws Refusal (400) for what is no boolean */
function askedFor(data: RequestData, flag: 'list' | 'scan'): boolean {
  const text = firstOf(data[flag] as string | string[] | undefined);
  if (text === '') return false;
  const value = parseBool(text);
  if (value === undefined) throw new Refusal(400);
  if (value) delete data[flag];
  return value;
}

function tokenOf(headers: IncomingMessage['headers']): string | undefined {
  const token = headers['x-vault-token'];
  if (token !== undefined) return String(token);
  const { authorization } = headers;
  return authorization !== undefined && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : undefined;
}

function wrapTtlOf(text: string): number {
  let seconds: number;
  try {
    seconds = parseDuration(text);
  } catch (error) {
    throw new Refusal(400, `error parsing X-Vault-Wrap-TTL header: ${(error as Error).message}`);
  }
  if (seconds < 0) throw new Refusal(400, 'requested wrap ttl cannot be negative');
  return seconds;
}

/** There is one namespace, the root. @throws Refusal (404) for any other */
function checkNamespace(exchange: Exchange, namespace: string): void {
  exchange.extra = [...(exchange.extra ?? []), 'X-Vault-Namespace', namespace];
  const name = namespace.replace(/^\/+|\/+$/g, '');
  if (name !== '' && name !== 'root') throw new Refusal(404, 'namespace not found');
}

function checkPatchType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === '') throw new Refusal(400, 'mime: no media type');
  const type = mediaTypeOf(contentType);
  if (type !== MERGE_PATCH) throw new Refusal(415, `PATCH requires Content-Type of ${MERGE_PATCH}, provided ${type}`);
}
