import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Loss } from '@strongroom/lab';

/** A call as it went through the door, and its answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly namespace: string | undefined;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

type Failure = 'throttled' | 'failing' | 'hanging' | { readonly left: number; readonly loss: Loss; readonly lost: () => void };

/** A server behind a door that counts and writes down calls, fails as servers do, and cuts connections. */
export class PeerDoor {
  readonly exchanges: Exchange[] = [];
  /** Called before a call passes on, with its method and path. */
  before: ((call: string) => Promise<void>) | undefined;
  readonly #peer: { readonly address: string; stop(): Promise<void> };
  #server!: Server;
  #failure: Failure | undefined;
  #shut = false;
  requests = 0;

  private constructor(peer: { readonly address: string; stop(): Promise<void> }) {
    this.#peer = peer;
  }

  static async open(peer: { readonly address: string; stop(): Promise<void> }): Promise<PeerDoor> {
    const door = new PeerDoor(peer);
    door.#server = createServer((request, response) => void door.#pass(request, response).catch(() => response.destroy()));
    await new Promise<void>((resolve) => door.#server.listen(0, '127.0.0.1', resolve));
    return door;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.#failure = how;
  }

  heal(): void {
    this.#failure = undefined;
    this.#shut = false;
  }

  /** Cuts the n-th call from now, 0 is the next one, and lets nobody through after it until `heal`. */
  cutAt(left: number, loss: Loss, lost: () => void): void {
    this.#failure = { left, loss, lost };
  }

  /** `data` of an answer to an administrator, who walks past the door; `{}` where there is none. @throws what is no success, but for a 404 */
  async ask(method: string, path: string, body?: object, namespace?: string): Promise<Readonly<Record<string, unknown>>> {
    const { status, json } = await this.#send(method, `/v1/${path}`, body === undefined ? undefined : JSON.stringify(body), {
      'x-vault-token': 'root',
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
    });
    if (status >= 300 && status !== 404) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    const { data, auth } = (json ?? {}) as { data?: Record<string, unknown> | null; auth?: Record<string, unknown> | null };
    return data ?? auth ?? {};
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#peer.stop();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (this.#shut) return void request.socket.destroy();
    this.requests += 1;
    const refuse = (status: number, error: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ errors: [error] }));
    };
    if (this.#failure === 'throttled') return refuse(429, 'request path "x": rate limit quota exceeded', { 'retry-after': '7' });
    if (this.#failure === 'failing') return refuse(500, 'internal error');
    if (this.#failure === 'hanging') return;
    const cut = typeof this.#failure === 'object' && this.#failure.left === 0 ? this.#failure : undefined;
    if (typeof this.#failure === 'object') this.#failure = { ...this.#failure, left: this.#failure.left - 1 };
    const lose = (): void => {
      this.#shut = true;
      cut?.lost();
      request.socket.destroy();
    };
    if (cut?.loss === 'request') return lose();
    const { method = '', url = '' } = request;
    await this.before?.(`${method} ${url}`);
    const text = Buffer.concat(chunks).toString();
    const [token, namespace] = [request.headers['x-vault-token'], request.headers['x-vault-namespace']].map((value) => [value].flat()[0]);
    const { status, json } = await this.#send(method, url, text === '' ? undefined : text, {
      ...(token === undefined ? {} : { 'x-vault-token': token }),
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
    });
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    this.exchanges.push({ method, path: url, token, namespace, body, status, answer: json });
    if (cut) return lose();
    response.writeHead(status, { 'content-type': 'application/json' }).end(json === undefined ? undefined : JSON.stringify(json));
  }

  async #send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<{ readonly status: number; readonly json: unknown }> {
    const answer = await fetch(`${this.#peer.address}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
  }
}
