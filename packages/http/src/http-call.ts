import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { CoreRequest } from './core-types.ts';
import type { RemoteParty } from './remote-address.ts';
import { shownCertificates } from './shown-certificates.ts';

export interface CallParts {
  readonly operation: CoreRequest['operation'];
  readonly path: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly exactData: Readonly<Record<string, unknown>> | undefined;
  /** The body as it comes, where it is not read as fields. */
  readonly body?: AsyncIterable<Uint8Array> | undefined;
  readonly token: string | undefined;
  readonly wrapTtl: number;
  readonly headers: IncomingHttpHeaders;
  readonly party: RemoteParty;
  /** The certificate that a trusted proxy passed on. */
  readonly forwardedCertificate: Uint8Array | undefined;
  readonly response: ServerResponse;
  readonly span?: CoreRequest['span'] | undefined;
}

/** A request of the core that came by HTTP. Its abort signal is made when somebody first asks for it: most calls end before anybody does. */
export class HttpCall implements CoreRequest {
  readonly operation: CoreRequest['operation'];
  readonly path: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly exactData?: Readonly<Record<string, unknown>>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly token?: string;
  readonly wrapTtl: number;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly span?: NonNullable<CoreRequest['span']>;
  readonly #response: ServerResponse;
  readonly #forwarded: boolean;
  readonly #forwardedCertificate: Uint8Array | undefined;
  #signal: AbortSignal | undefined;

  constructor({ operation, path, data, exactData, body, token, wrapTtl, headers, party, forwardedCertificate, response, span }: CallParts) {
    this.operation = operation;
    this.path = path;
    if (data !== undefined) this.data = data;
    if (exactData !== undefined) this.exactData = exactData;
    if (body !== undefined) this.body = body;
    if (token !== undefined) this.token = token;
    this.wrapTtl = wrapTtl;
    this.headers = headers;
    this.remoteAddress = party.address;
    this.remotePort = party.port;
    this.#forwarded = party.forwarded;
    this.#forwardedCertificate = forwardedCertificate;
    this.#response = response;
    if (span) this.span = span;
  }

  get certificates(): readonly Uint8Array[] {
    if (this.#forwardedCertificate) return [this.#forwardedCertificate];
    return this.#forwarded ? [] : shownCertificates(this.#response.req.socket);
  }

  get signal(): AbortSignal {
    this.#signal ??= abortedByLeaving(this.#response);
    return this.#signal;
  }

  onGone(listener: () => void): () => void {
    return onLeaving(this.#response, listener);
  }
}

function abortedByLeaving(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onLeaving(response, () => controller.abort(new Error('the caller went away')));
  return controller.signal;
}

/** Calls back when the caller leaves before it has its answer; returns the cancellation. */
function onLeaving(response: ServerResponse, listener: () => void): () => void {
  const leave = (): void => {
    if (!response.writableFinished) listener();
  };
  if (response.destroyed) leave();
  else response.once('close', leave);
  return () => response.removeListener('close', leave);
}
