import { constants } from 'node:crypto';
import http, { type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import https, { type Server as SecureServer, type ServerOptions as SecureServerOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { ApiHandler, type ApiOptions } from './api-handler.ts';
import { endWith } from './client-fault.ts';
import type { CoreHandler } from './core-types.ts';
import { askForBody, waitsForContinue } from './expectation.ts';
import { acceptListVerb, restoreVerb } from './list-verb.ts';
import { trackConnections } from './open-connections.ts';
import { endsWith } from './open-streams.ts';
import { inTurn } from './pipelined-requests.ts';
import { siteApp, type SiteOptions } from './site.ts';

/** What a server of its own takes beside the limits of the API. */
export interface HttpServerOptions extends ApiOptions, SiteOptions {
  /** Answers what is not below `/v1/`, in place of our own pages: an express app, or any handler. */
  readonly app?: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Certificate, key and what else node's TLS takes; without it the server speaks plain HTTP. With `requestCert: true, rejectUnauthorized: false` clients may show
   * any certificate, for login methods to judge. Give `setSecureContext` the `secureOptions` SSL_OP_NO_TICKET then, as this server has them.
   */
  readonly tls?: SecureServerOptions;
  /** Milliseconds in which the head of a request must arrive; 10,000 by default. */
  readonly headersTimeout?: number;
  /** Milliseconds for which an idle connection is kept; 120,000 by default: longer than clients do, so that they close first. */
  readonly keepAliveTimeout?: number;
  /** Milliseconds between two looks at those times; 5,000 by default. */
  readonly timeoutCheckInterval?: number;
  /** Bytes of a request's head; 64 KiB by default. */
  readonly maxHeaderBytes?: number;
}

const PREFIX = '/v1/';

/**
 * A server for a core, not yet listening. Requests below `/v1/` go straight to the core; only the others pass through express, whose
 * cost per request is several times that of the rest of this package.
 */
export function createHttpServer(core: CoreHandler, options: HttpServerOptions = {}): Server | SecureServer {
  const api = new ApiHandler(core, options);
  const site = options.app ?? siteApp(options);
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    inTurn(request, response, () => dispatch(request, response));
  };
  const dispatch = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url!;
    if (url.startsWith(PREFIX)) api.handle(request, response, '/v1', url.slice(PREFIX.length));
    else elsewhere(request, response);
  };
  const elsewhere = (request: IncomingMessage, response: ServerResponse): void => {
    const url = originForm(request.url!);
    if (url.startsWith(PREFIX)) api.handle(request, response, '/v1', url.slice(PREFIX.length));
    else {
      request.url = url;
      askForBody(request, response);
      site(request, response);
    }
  };
  const settings: ServerOptions = {
    headersTimeout: options.headersTimeout ?? 10_000,
    requestTimeout: options.requestTimeout ?? 90_000,
    keepAliveTimeout: options.keepAliveTimeout ?? 120_000,
    connectionsCheckingInterval: options.timeoutCheckInterval ?? 5_000,
    maxHeaderSize: options.maxHeaderBytes ?? 64 * 1024,
  };
  const server = options.tls
    ? https.createServer({ ...settings, ...withWholePaths(options.tls) }, listener)
    : http.createServer(settings, listener);
  acceptListVerb(server);
  endsWith(server, api.streams);
  trackConnections(server);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    endWith(socket, 405, []);
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waitsForContinue(request);
    restoreVerb(request);
    listener(request, response);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    api.refuse(response, 417, 'Expect: only 100-continue is known');
  });
  return server;
}

/** A resumed session has the client's certificate, but not what it sent of the path above: where certificates are requested, no session is resumed. */
function withWholePaths(tls: SecureServerOptions): SecureServerOptions {
  return tls.requestCert === true ? { ...tls, secureOptions: (tls.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET } : tls;
}

/** `GET http://host/path` (how proxies are asked) means `/path`. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const absolute = /^https?:\/\/[^/?#]*([^#]*)/i.exec(url);
  if (!absolute) return `/${url}`;
  return absolute[1]!.startsWith('/') ? absolute[1]! : `/${absolute[1]!}`;
}
