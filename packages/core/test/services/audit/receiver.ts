import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the receiver got. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly key: string;
  readonly lines: readonly string[];
}

/** What lines are posted to. A test decides how it answers. */
export class Receiver {
  readonly received: Received[] = [];
  /** 200 by default. */
  respond: (response: ServerResponse, received: Received) => void = (response) => void response.end();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const { headers } = request;
        const received = { headers, key: String(headers['idempotency-key']), lines: text.split('\n').slice(0, -1) };
        this.received.push(received);
        this.respond(response, received);
      });
    });
  }

  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/audit`;
  }

  get lines(): string[] {
    return this.received.flatMap(({ lines }) => lines);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }
}
