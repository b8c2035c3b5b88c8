import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiFailure, Failure } from '../../failure.ts';
import { failurePage, PAGE_HEADERS, renderPage, SUCCESS, type CallbackPage } from './callback-page.ts';

/** The path of the listener to which the provider sends the browser. */
const CALLBACK = '/oidc/callback';
/** Bytes of a form that a provider posts. */
const LONGEST_FORM = 256 * 1024;

/** What the provider answered, through the browser. */
export interface Callback {
  readonly fields: URLSearchParams;
  /** It came as a form (`form_post`). */
  readonly posted: boolean;
}

type Show = (page: CallbackPage) => Promise<void>;

/** Takes the callback of one login on a port of this machine. */
export class CallbackListener {
  readonly port: number;
  readonly #server: Server;
  #take: ((callback: Callback, show: Show) => Promise<void>) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, showOn(response)));
  }

  /** Throws a Failure when the port is taken. */
  static async open(address: string, port: number): Promise<CallbackListener> {
    const server = createServer({ requestTimeout: 10_000 });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const hint = error.code === 'EADDRINUSE' ? '; give another one with port=<int>' : '';
        reject(new Failure(`Cannot listen on ${address}:${port}: ${error.code ?? error.message}${hint}`));
      });
      server.listen(port, address, resolve);
    });
    return new CallbackListener(server);
  }

  /**
   * Waits for the callback of the login with this state, and answers what `complete` makes of it; the browser shows how that went.
   * A callback with another state belongs to another login, or to nobody: it is refused, and the wait goes on.
   */
  async receive<T>(state: string, complete: (callback: Callback) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let taken = false;
      this.#take = async (callback, show) => {
        if (callback.fields.get('state') !== state) return show(failurePage('This is not the login that the command line waits for.'));
        if (taken) return show(failurePage('This login was already completed.'));
        taken = true;
        try {
          const result = await complete(callback);
          await show(SUCCESS);
          resolve(result);
        } catch (error) {
          await show(failurePage(reasonOf(error as Error)));
          reject(error as Error);
        }
      };
    });
  }

  /** Ends open connections too. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, show: Show): Promise<void> {
    // Anybody on this machine can ask for anything, also for what is no address.
    if (request.url?.split('?')[0] !== CALLBACK) return show({ status: 404, title: 'Not found', text: '' });
    if (request.method !== 'GET' && request.method !== 'POST') return show({ status: 405, title: 'Method not allowed', text: '' });
    try {
      const callback = await callbackOf(request);
      await (this.#take?.(callback, show) ?? show(failurePage('No login is under way.')));
    } catch (error) {
      await show(failurePage((error as Error).message));
    }
  }
}

/** Resolves when the browser has the page, or has gone. */
function showOn(response: ServerResponse): Show {
  return async (page) => {
    response.writeHead(page.status, PAGE_HEADERS);
    response.end(renderPage(page));
    if (!response.closed) await once(response, 'close');
  };
}

function reasonOf(error: Error): string {
  return error instanceof ApiFailure && error.errors.length > 0 ? error.errors.join('; ') : error.message;
}

async function callbackOf(request: IncomingMessage): Promise<Callback> {
  if (request.method === 'GET') {
    return { fields: new URL(request.url ?? '/', 'http://localhost').searchParams, posted: false };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > LONGEST_FORM) throw new Failure('The form of the provider is too long');
    chunks.push(chunk as Buffer);
  }
  return { fields: new URLSearchParams(Buffer.concat(chunks).toString('utf8')), posted: true };
}
