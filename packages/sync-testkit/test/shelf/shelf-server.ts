import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Outside, OutsideSecret } from '@strongroom/sync-testkit';

interface Held {
  value: string;
  labels: Record<string, string>;
  version: string;
  readonly id: string;
}

const TOKEN = 'shelf-token-of-the-tests';
const PAGE = 10;

/** Plays Shelf, with one shelf `kitchen`; `outside` is its console. */
export class ShelfServer implements Outside {
  readonly #secrets = new Map<string, Held>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #requests = 0;
  #failing: 'throttled' | 'failing' | 'hanging' | undefined;

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get connection() {
    const { port } = this.#server.address() as AddressInfo;
    return { endpoint: `http://127.0.0.1:${port}`, access_token: TOKEN, shelf: 'kitchen' };
  }

  async read(name: string): Promise<OutsideSecret | undefined> {
    const held = this.#secrets.get(name);
    return held && { value: held.value, tags: held.labels };
  }

  async write(name: string, value: string): Promise<void> {
    this.#set(name, value, this.#secrets.get(name)?.labels ?? {});
  }

  async remove(name: string): Promise<void> {
    this.#secrets.delete(name);
  }

  requests(): number {
    return this.#requests;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.#failing = how;
  }

  heal(): void {
    this.#failing = undefined;
  }

  #set(name: string, value: string, labels: Record<string, string>): Held {
    const held = { value, labels, version: randomUUID(), id: this.#secrets.get(name)?.id ?? randomUUID() };
    this.#secrets.set(name, held);
    return held;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#requests += 1;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const send = (status: number, answer: object, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': `req-${this.#requests}`, ...headers });
      response.end(JSON.stringify(answer));
    };
    if (this.#failing === 'hanging') return;
    if (this.#failing === 'throttled') return send(429, { code: 'slow_down', message: 'too many calls' }, { 'retry-after': '7' });
    if (this.#failing === 'failing') return send(503, { code: 'down', message: 'the shelf is being painted' });
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return send(401, { code: 'who_are_you', message: 'this token is unknown' });

    const { pathname, searchParams } = new URL(request.url!, 'http://shelf');
    const [, , shelf, name] = pathname.split('/');
    if (shelf !== 'kitchen') return send(404, { code: 'no_shelf', message: 'there is no such shelf' });
    const shown = (at: string, { version, id, labels }: Held) => ({ name: at, version, id, labels });
    if (name === undefined) {
      const names = [...this.#secrets.keys()].sort().filter((at) => at > (searchParams.get('after') ?? ''));
      const page = names.slice(0, PAGE);
      const secrets = page.map((at) => shown(at, this.#secrets.get(at)!));
      return send(200, { secrets, ...(names.length > PAGE ? { next: page.at(-1) } : {}) });
    }
    const held = this.#secrets.get(name);
    if (request.method === 'PUT') {
      const { 'if-match': wanted, 'if-none-match': none } = request.headers;
      if ((none === '*' && held) || (wanted !== undefined && wanted !== held?.version))
        return send(412, { code: 'changed', message: 'no' });
      const { value, labels } = JSON.parse(body) as Pick<Held, 'value' | 'labels'>;
      return send(200, shown(name, this.#set(name, value, { ...held?.labels, ...labels })));
    }
    if (held === undefined) return send(404, { code: 'nothing', message: 'there is nothing of this name' });
    if (request.method === 'DELETE') this.#secrets.delete(name);
    return send(200, shown(name, held));
  }
}
