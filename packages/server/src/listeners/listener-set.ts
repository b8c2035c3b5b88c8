import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Log, Tracer } from '@strongroom/engine-sdk';
import { createHttpServer, stopGracefully, type CoreHandler, type HttpServerOptions, type PageHeaderSource } from '@strongroom/http';
import { formatAddress } from '../config/address.ts';
import type { Listener } from '../config/configuration.ts';
import { NO_CONSOLE_HERE, type ConsolePages } from '../console.ts';
import { ListenerFailed } from '../failures.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import { withOpenMetrics } from './open-metrics.ts';
import { withTokenless } from './tokenless.ts';
import { readTlsFiles, tlsOptions } from './tls.ts';
import { restrict } from './unix-socket.ts';

export interface ListenerParts {
  readonly core: CoreHandler & { readonly pageHeaders?: PageHeaderSource };
  readonly log: Log;
  /** Absent: metrics are off. */
  readonly metrics: ServerMetrics | undefined;
  /** Absent: there are no traces. */
  readonly tracer?: Tracer | undefined;
  /** For the listeners that do not leave it out. */
  readonly console: ConsolePages;
}

interface OpenListener {
  readonly choice: Listener;
  readonly server: Server | SecureServer;
  readonly url: string;
}

/** All listeners of a server: all of them open, or none. */
export class ListenerSet {
  readonly #open: readonly OpenListener[];
  readonly #log: Log;

  private constructor(open: readonly OpenListener[], log: Log) {
    this.#open = open;
    this.#log = log;
  }

  /** @throws ListenerFailed, TlsFilesInvalid */
  static async open(choices: readonly Listener[], parts: ListenerParts): Promise<ListenerSet> {
    const open: OpenListener[] = [];
    try {
      for (const choice of choices) open.push(await openListener(choice, parts));
    } catch (error) {
      await Promise.all(open.map(async ({ server }) => stopGracefully(server, 0)));
      throw error;
    }
    return new ListenerSet(open, parts.log);
  }

  /** `http://127.0.0.1:8200`, `https://[::1]:8200`, `unix:///run/strongroom.sock`, in the order of the configuration. */
  get addresses(): readonly string[] {
    return this.#open.map(({ url }) => url);
  }

  /** Reads certificates and keys again. A listener whose files are faulty goes on with those it has. */
  reloadTls(): void {
    for (const { choice, server, url } of this.#open) {
      if (choice.type !== 'tcp' || !choice.tls || !(server instanceof SecureServer)) continue;
      try {
        server.setSecureContext(readTlsFiles(choice.tls));
        this.#log.info('the certificate was reloaded', { listener: url });
      } catch (error) {
        this.#log.error('the certificate is unchanged: the new files cannot be used', { listener: url, error: (error as Error).message });
      }
    }
  }

  /** Takes no new connections, and lets requests that have begun end. */
  async stop(deadlineMillis: number): Promise<void> {
    const orderly = await Promise.all(this.#open.map(async ({ server }) => stopGracefully(server, deadlineMillis)));
    if (orderly.includes(false))
      this.#log.warn('requests that did not end in time were aborted', { deadline_seconds: deadlineMillis / 1_000 });
  }
}

async function openListener(choice: Listener, parts: ListenerParts): Promise<OpenListener> {
  const allowing = choice.tokenless ? withTokenless(parts.core, choice.tokenless) : parts.core;
  const core = choice.openMetrics && parts.metrics ? withOpenMetrics(allowing, parts.metrics) : allowing;
  const server = createHttpServer(core, httpOptions(choice, parts));
  if (choice.type === 'unix') {
    await listening(server, { path: choice.path }, choice.path);
    restrict(choice);
    return { choice, server, url: `unix://${choice.path}` };
  }
  const where = formatAddress(choice.host, choice.port);
  await listening(server, { port: choice.port, ...(choice.host === '' ? {} : { host: choice.host }) }, where);
  const { address, port } = server.address() as AddressInfo;
  return { choice, server, url: `${choice.tls ? 'https' : 'http'}://${formatAddress(address, port)}` };
}

function httpOptions(choice: Listener, { core, log, metrics, tracer, console }: ListenerParts): HttpServerOptions {
  const millis = (seconds: number): number => Math.round(seconds * 1_000);
  return {
    ...(choice.maxBodyBytes === undefined ? {} : { maxBodyBytes: choice.maxBodyBytes }),
    ...(choice.maxJsonStrings === undefined ? {} : { maxJsonStrings: choice.maxJsonStrings }),
    ...(choice.maxJsonValues === undefined ? {} : { maxJsonValues: choice.maxJsonValues }),
    ...(choice.maxBodyMemory === undefined ? {} : { maxBodyMemory: choice.maxBodyMemory }),
    ...(choice.maxJsonDepth === undefined ? {} : { maxJsonDepth: choice.maxJsonDepth }),
    ...(choice.headersTimeout === undefined ? {} : { headersTimeout: millis(choice.headersTimeout) }),
    ...(choice.requestTimeout === undefined ? {} : { requestTimeout: millis(choice.requestTimeout) }),
    ...(choice.keepAliveTimeout === undefined ? {} : { keepAliveTimeout: millis(choice.keepAliveTimeout) }),
    trustedProxies: choice.trustedProxies,
    ...(choice.forwardedCertificate ? { forwardedCertificate: choice.forwardedCertificate } : {}),
    headers: choice.headers,
    ...(choice.ui === false ? NO_CONSOLE_HERE : console),
    ...(core.pageHeaders ? { pageHeaders: core.pageHeaders } : {}),
    ...(metrics ? { observe: metrics.observe } : {}),
    ...(tracer ? { tracer } : {}),
    ...(metrics && choice.openMetrics
      ? {
          metrics: (_request, response, next) => {
            metrics.render().then((text) => response.type('text/plain; version=0.0.4').send(text), next);
          },
        }
      : {}),
    onFault: (error, requestId) => {
      log.error('a request failed because of a bug in the server', {
        ...(requestId === undefined ? {} : { request_id: requestId }),
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    },
    ...(choice.type === 'tcp' && choice.tls ? { tls: tlsOptions(choice.tls) } : {}),
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use: is another server running?',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not listen there',
  ENOTFOUND: 'the host name is not known',
  ENOENT: 'the folder of the socket does not exist',
};

function listening(
  server: Server | SecureServer,
  options: { path: string } | { port: number; host?: string },
  where: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      reject(new ListenerFailed(`cannot listen on ${where}: ${REASONS[error.code ?? ''] ?? error.message}`));
    };
    server.once('error', failed);
    // A socket is nobody else's until its owner and mode are set.
    const before = 'path' in options ? process.umask(0o177) : undefined;
    server.listen(options, () => {
      server.removeListener('error', failed);
      resolve();
    });
    if (before !== undefined) process.umask(before);
  });
}
