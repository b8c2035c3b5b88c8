import { randomUUID } from 'node:crypto';
import { validateHeaderValue, type IncomingMessage, type ServerResponse } from 'node:http';
import { endOfTurn, parseDuration, systemClock, TimeoutQueue, type Clock, type Tracer, type TraceSpan } from '@strongroom/engine-sdk';
import { AnswerWriter } from './answer-writer.ts';
import { KNOWN_CALLER, lower, UNKNOWN_CALLER, type BodyLimits } from './body-limits.ts';
import { BodyMemory, type BodyHold } from './body-memory.ts';
import { readBody, tooMuch, type Overdue } from './body-reader.ts';
import type { CoreHandler, CoreRequest } from './core-types.ts';
import { ForwardedCertificate, type ForwardedCertificateOptions } from './forwarded-certificate.ts';
import { HttpCall } from './http-call.ts';
import { OpenStreams } from './open-streams.ts';
import { inTurn } from './pipelined-requests.ts';
import { firstOf, parseBool, parseQuery } from './query.ts';
import { Refusal } from './refusal.ts';
import { REQUEST_ID } from './request-id.ts';
import { peerOf, TrustedProxies, type RemoteParty } from './remote-address.ts';
import {
  decoderOf,
  decodeSmallBody,
  fieldsOfParsed,
  mediaTypeOf,
  SMALL_BODY,
  TooCostly,
  type DecodedBody,
  type RequestData,
} from './request-body.ts';
import { isPlainPath, requestPath } from './request-path.ts';
import { Sender } from './sender.ts';
import { streamedBody } from './streamed-request.ts';
import { turns } from './turns.ts';

/** What a caller of this API has done, for metrics. */
export interface Observation {
  /** `none` for what was answered without asking the core. */
  readonly operation: CoreRequest['operation'] | 'none';
  /** Without `/v1/`; '' with operation `none`. Chosen by the caller: not a label by itself. */
  readonly path: string;
  readonly status: number;
  /** From the request's head, or the answer to the previous request of the connection, to the answer's write. */
  readonly seconds: number;
}

/** Limits of the API, and its listeners. Everything has a default. */
export interface ApiOptions {
  /** Bytes of a body; 32 MiB by default. */
  readonly maxBodyBytes?: number;
  /** Strings of a JSON body, keys included; 100,000 by default. */
  readonly maxJsonStrings?: number;
  /** Values of every kind in a JSON body; 500,000 by default. */
  readonly maxJsonValues?: number;
  /** Nesting of a JSON body; 500 by default. */
  readonly maxJsonDepth?: number;
  /** Milliseconds in which a whole request must arrive; 90,000 by default. */
  readonly requestTimeout?: number;
  /** Bytes that the bodies in flight may take together, a fourth of it those of callers without a valid token; 256 MiB by default. */
  readonly maxBodyMemory?: number;
  /** For the time in which a body must arrive; the system's by default. */
  readonly clock?: Clock;
  /** Addresses and networks whose `X-Forwarded-For` is believed. None by default. */
  readonly trustedProxies?: readonly string[];
  /**
   * The header in which trusted proxies pass on the certificate that their client has shown. It needs `trustedProxies`, and is removed from all requests that
   * none of them sent with an `X-Forwarded-For`. Without it a certificate comes from the TLS connection alone.
   */
  readonly forwardedCertificate?: ForwardedCertificateOptions;
  /** Sent with every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** That of the core: a span then lasts from the head of a request to its answer. Absent: spans are those of the core, without the time that a body takes. */
  readonly tracer?: Tracer;
  /** Called after each answer. */
  readonly observe?: (observation: Observation) => void;
  /** Told of faults of the server itself, none of which a caller can cause, with the id that the caller got. */
  readonly onFault?: (error: unknown, requestId?: string) => void;
}

/** Verbs that change something, and so have a body. */
const OPERATIONS: Readonly<Record<string, CoreRequest['operation']>> = { POST: 'update', PUT: 'update', PATCH: 'patch' };
/** Calls that begin together. A read does less: it would gain little, and the memory of all is held at once. */
const CHANGES: ReadonlySet<CoreRequest['operation']> = new Set([...Object.values(OPERATIONS), 'delete']);
const MERGE_PATCH = 'application/merge-patch+json';

const NO_BODY: DecodedBody = { data: undefined, exactData: undefined };

interface Asked {
  readonly operation: CoreRequest['operation'];
  readonly path: string;
  readonly sender: Sender;
  readonly party: RemoteParty;
  readonly forwardedCertificate: Uint8Array | undefined;
  readonly body: DecodedBody;
  /** The body as it comes, where it is not read as fields. */
  readonly stream?: AsyncIterable<Uint8Array>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Headers that this answer has beside the usual ones: names and values in turn. */
  extra: string[] | undefined;
  /** As the core knows the call. Calls that never reach the core get one when they are refused. */
  id: string | undefined;
  /** The memory of its body, until the answer. */
  hold: BodyHold | undefined;
  readonly started: number;
  /** Ends when the answer is written, or the caller is gone. */
  readonly span: TraceSpan | undefined;
}

/** Turns requests below `/v1/` into calls of the core, and its answers into HTTP. */
export class ApiHandler {
  readonly #core: CoreHandler;
  readonly #writer: AnswerWriter;
  readonly #known: BodyLimits;
  /** The limits of a caller who is not known, or not yet. */
  readonly #unknown: BodyLimits;
  readonly #memory: BodyMemory;
  readonly #clock: Clock;
  readonly #reading: TimeoutQueue<Overdue>;
  readonly #proxies: TrustedProxies | undefined;
  readonly #forwardedCertificate: ForwardedCertificate;
  readonly #observe: ApiOptions['observe'];
  readonly #tracer: Tracer | undefined;
  /** The answers that are being sent as they come about. */
  readonly streams: OpenStreams;
  readonly #onFault: ApiOptions['onFault'];

  constructor(core: CoreHandler, options: ApiOptions = {}) {
    this.#core = core;
    this.#writer = new AnswerWriter(options.headers);
    this.#known = {
      maxBytes: options.maxBodyBytes ?? KNOWN_CALLER.maxBytes,
      maxStrings: options.maxJsonStrings ?? KNOWN_CALLER.maxStrings,
      maxValues: options.maxJsonValues ?? KNOWN_CALLER.maxValues,
      maxDepth: options.maxJsonDepth ?? KNOWN_CALLER.maxDepth,
      timeout: options.requestTimeout ?? KNOWN_CALLER.timeout,
    };
    this.#unknown = lower(UNKNOWN_CALLER, this.#known);
    this.#memory = new BodyMemory(options.maxBodyMemory);
    this.#clock = options.clock ?? systemClock;
    this.#reading = new TimeoutQueue(this.#clock, this.#unknown.timeout, (body) => body.overdue());
    this.streams = new OpenStreams(this.#clock);
    this.#proxies = options.trustedProxies?.length ? new TrustedProxies(options.trustedProxies) : undefined;
    if (options.forwardedCertificate && !this.#proxies) {
      throw new TypeError('forwardedCertificate needs trustedProxies: anybody could send the certificate of somebody else');
    }
    this.#forwardedCertificate = new ForwardedCertificate(options.forwardedCertificate);
    this.#observe = options.observe;
    this.#tracer = options.tracer;
    this.#onFault = options.onFault;
  }

  /**
   * Answers a request, once those before it on the same connection are answered. `base` is the API's prefix without closing slash, `target` the rest of the URL
   * behind the slash, with its query.
   */
  handle(request: IncomingMessage, response: ServerResponse, base: string, target: string): void {
    inTurn(request, response, () => this.#begin(request, response, base, target));
  }

  #begin(request: IncomingMessage, response: ServerResponse, base: string, target: string): void {
    const exchange: Exchange = {
      request,
      response,
      extra: undefined,
      id: undefined,
      hold: undefined,
      started: this.#observe ? performance.now() : 0,
      span: this.#tracer && receivedSpan(this.#tracer, request, response),
    };
    try {
      this.#receive(exchange, base, target);
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  /** Refuses a request without looking at it, in the form of the API. */
  refuse(response: ServerResponse, status: number, text: string): void {
    this.#writer.refusing(response, status, text === '' ? [] : [text], [REQUEST_ID, randomUUID()]);
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
    const party = this.#proxies ? this.#proxies.callerOf(request) : peerOf(request);
    const forwardedCertificate = this.#forwardedCertificate.take(request, party.forwarded);
    const sender = new Sender(this.#core, headers, party.address);
    if (operation === undefined) {
      const { operation: asked, data } = operationOf(method, query);
      const where = (asked === 'list' || asked === 'scan') && !path.endsWith('/') ? `${path}/` : path;
      this.#call(exchange, { operation: asked, path: where, sender, party, forwardedCertificate, body: { data, exactData: undefined } });
    } else {
      if (operation === 'patch') checkPatchType(headers['content-type']);
      if (this.#core.streamsBody?.(path) === true) {
        refuseEncodings(headers);
        const stream = streamedBody(request, exchange.response, this.#clock);
        this.#call(exchange, { operation, path, sender, party, forwardedCertificate, body: NO_BODY, stream });
        return;
      }
      this.#withBody(exchange, sender, (body) => {
        this.#call(exchange, { operation, path, sender, party, forwardedCertificate, body });
      });
    }
  }

  #call(exchange: Exchange, { operation, path, sender, party, forwardedCertificate, body, stream }: Asked): void {
    const { request, response } = exchange;
    const { headers } = request;
    const ttl = headers['x-vault-wrap-ttl'];
    const call = new HttpCall({
      operation,
      path,
      data: body.data,
      exactData: body.exactData,
      body: stream,
      token: sender.token,
      wrapTtl: ttl === undefined ? 0 : wrapTtlOf(String(ttl)),
      headers,
      party,
      forwardedCertificate,
      response,
      span: exchange.span,
    });
    const together = CHANGES.has(operation) && !stream;
    const handled = together ? endOfTurn().then(async () => this.#core.handle(call)) : this.#core.handle(call);
    handled.then(
      (answer) => {
        try {
          const id = answer.callId ?? answer.requestId;
          validateHeaderValue(REQUEST_ID, id);
          exchange.id = id;
          if (answer.stream) {
            this.#writer.head(response, answer, withId(exchange));
            void this.streams.send(response, answer.stream);
          } else if (stream) this.#writer.closing(response, answer, withId(exchange));
          else this.#writer.answer(response, answer, withId(exchange));
          exchange.hold?.release();
          if (this.#observe) this.#observed(exchange, operation, path, answer.status);
        } catch (error) {
          void answer.stream?.cancel?.();
          this.#refuse(exchange, error);
        }
      },
      (error: unknown) => {
        this.#refuse(exchange, error);
      },
    );
  }

  /** Continues with the fields of the body, whoever has read it. */
  #withBody(exchange: Exchange, sender: Sender, next: (body: DecodedBody) => void): void {
    const { request, response } = exchange;
    const { headers } = request;
    refuseEncodings(headers);
    const parsed = (request as { body?: unknown }).body;
    if (typeof parsed === 'string' || parsed instanceof Uint8Array) this.#decode(exchange, sender, Buffer.from(parsed as string), next);
    else if (parsed !== undefined && request.readableEnded) next({ data: fieldsOfParsed(parsed), exactData: undefined });
    else if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') next(NO_BODY);
    else if (request.readableEnded) throw new Refusal(400, 'the body was read by another part of this server, which did not pass it on');
    else {
      const hold = (exchange.hold = this.#memory.hold());
      const rules = { sender, hold, unknown: this.#unknown, known: this.#known, clock: this.#clock, reading: this.#reading };
      readBody(request, response, rules, (body) => {
        try {
          if (body instanceof Refusal) throw body;
          this.#decode(exchange, sender, body, next);
        } catch (error) {
          this.#refuse(exchange, error);
        }
      });
    }
  }

  /** A small body is read at once, within the limits of a caller who is not known. For all others the token is looked at first. */
  #decode(exchange: Exchange, sender: Sender, body: Buffer, next: (body: DecodedBody) => void): void {
    const decoded = body.length <= SMALL_BODY ? this.#decodeAtOnce(exchange, body) : undefined;
    if (decoded) {
      next(decoded);
      return;
    }
    this.#decodeInTurns(exchange, sender, body)
      .then(next)
      .catch((error: unknown) => {
        this.#refuse(exchange, error);
      });
  }

  /** Undefined for what only a known caller may send. */
  #decodeAtOnce(exchange: Exchange, body: Buffer): DecodedBody | undefined {
    try {
      return decodeSmallBody(body, exchange.request.headers['content-type'], this.#unknown);
    } catch (error) {
      if (error instanceof TooCostly) return undefined;
      throw error;
    }
  }

  async #decodeInTurns(exchange: Exchange, sender: Sender, body: Buffer): Promise<DecodedBody> {
    const { hold } = exchange;
    const known = await sender.known();
    if (known && hold?.known() === false) throw tooMuch();
    const decoder = decoderOf(body, exchange.request.headers['content-type'], known ? this.#known : this.#unknown);
    try {
      await turns.run(decoder, () => {
        if (hold?.take(body.length + decoder.memory) === false) throw tooMuch();
      });
    } catch (error) {
      throw error instanceof TooCostly ? error.refusal(this.#known) : error;
    }
    const decoded = decoder.body();
    // The text is not needed any more.
    hold?.take(decoder.memory);
    return decoded;
  }

  /** True when the answer is already given; otherwise the answer to come has the headers of the decision. */
  #answeredByCors(exchange: Exchange, method: string, origin: string): boolean {
    const { request, response } = exchange;
    const decision = this.#core.cors?.decide(method, origin, request.headers['access-control-request-method']);
    if (decision === undefined) return false;
    if (decision.kind === 'refused') {
      if (decision.error !== '') throw new Refusal(decision.status, decision.error);
      this.#writer.send(response, decision.status, 'text/plain; charset=utf-8', '', withId(exchange));
      if (this.#observe) this.#observed(exchange, 'none', '', decision.status);
      return true;
    }
    exchange.extra = Object.entries(decision.headers).flat();
    if (decision.kind === 'pass') return false;
    this.#writer.send(response, 200, 'application/json', '', withId(exchange));
    if (this.#observe) this.#observed(exchange, 'none', '', 200);
    return true;
  }

  #redirect(exchange: Exchange, location: string): void {
    const { request, response } = exchange;
    const status = request.method === 'GET' || request.method === 'HEAD' ? 301 : 307;
    const text = status === 301 ? 'Moved Permanently' : 'Temporary Redirect';
    const safe = location.replace(/[^!#-;=?-\]_a-z~]/g, (char) => encodeURIComponent(char));
    const body = `<a href="${safe.replaceAll('&', '&amp;')}">${text}</a>.\n`;
    this.#writer.send(response, status, 'text/html; charset=utf-8', body, [...withId(exchange), 'Location', safe]);
    if (this.#observe) this.#observed(exchange, 'none', '', status);
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { response } = exchange;
    exchange.hold?.release();
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal error');
    exchange.id ??= randomUUID();
    if (refusal !== error) this.#onFault?.(error, exchange.id);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const errors = refusal.text === '' ? [] : [refusal.text];
    const extra = [...withId(exchange), ...refusal.headers];
    if (refusal.closes) this.#writer.refusing(response, refusal.status, errors, extra);
    else this.#writer.errors(response, refusal.status, errors, extra);
    if (this.#observe) this.#observed(exchange, 'none', '', refusal.status);
  }

  #observed(exchange: Exchange, operation: Observation['operation'], path: string, status: number): void {
    this.#observe?.({ operation, path, status, seconds: (performance.now() - exchange.started) / 1_000 });
  }
}

/** The headers that this answer has beside the usual ones. */
function withId({ id = randomUUID(), extra }: Exchange): string[] {
  return extra ? [...extra, REQUEST_ID, id] : [REQUEST_ID, id];
}

const BODILESS: Readonly<Record<string, CoreRequest['operation']>> = { LIST: 'list', SCAN: 'scan', DELETE: 'delete', HEAD: 'header' };

/** What verbs without a body ask for. @throws Refusal (400, 405) */
function operationOf(method: string, query: string): { operation: CoreRequest['operation']; data: RequestData | undefined } {
  if (method === 'GET') {
    if (query === '') return { operation: 'read', data: undefined };
    const fields = parseQuery(query);
    if (firstOf(fields['help']) !== '') return { operation: 'help', data: undefined };
    const { help: _, ...data } = fields;
    const list = askedFor(data, 'list');
    const scan = askedFor(data, 'scan');
    if (list && scan) throw new Refusal(400);
    return { operation: list ? 'list' : scan ? 'scan' : 'read', data };
  }
  if (method === 'OPTIONS') throw new Refusal(400, 'cannot handle internal-only request operation');
  const operation = Object.hasOwn(BODILESS, method) ? BODILESS[method] : undefined;
  if (operation === undefined) throw new Refusal(405);
  if (query === '') return { operation, data: undefined };
  const { help: _, ...data } = parseQuery(query);
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

/** @throws Refusal (415) for a body that is not sent as it is */
function refuseEncodings(headers: IncomingMessage['headers']): void {
  const content = headers['content-encoding'];
  if (content !== undefined && content.toLowerCase() !== 'identity') {
    throw new Refusal(415, 'Content-Encoding: the body must be sent as it is', { closes: true });
  }
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    throw new Refusal(415, 'Transfer-Encoding: only chunked is known', { closes: true });
  }
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

/** Named by the core once it knows what the request is. */
function receivedSpan(tracer: Tracer, { method = '', headers }: IncomingMessage, response: ServerResponse): TraceSpan {
  const span = tracer.begin(method, { kind: 'server', headers, attributes: { 'http.request.method': method } });
  response.once('close', () => span.end());
  return span;
}
