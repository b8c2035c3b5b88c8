import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Loss } from './call-cutter.ts';
import type { MotoServer } from './moto-server.ts';

/** The form in which the service says what is wrong. */
function refuse(response: ServerResponse, status: number, type: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'req-1234', ...headers });
  response.end(JSON.stringify({ __type: type, message: `${type} says no` }));
}

/** moto behind a door that counts, and fails as the service does: moto neither throttles nor refuses in the service's own form. */
export class MotoDoor {
  /** What was asked, in order: `secretsmanager.DescribeSecret`, or `/` for STS. */
  readonly targets: string[] = [];
  readonly bodies: string[] = [];
  readonly moto: MotoServer;
  #door!: Server;
  #refusing!: Server;
  #failing: 'throttled' | 'failing' | 'hanging' | undefined;
  #cut: { left: number; readonly loss: Loss; readonly lost: () => void } | undefined;
  #isShut = false;

  private constructor(moto: MotoServer) {
    this.moto = moto;
  }

  static async open(moto: MotoServer): Promise<MotoDoor> {
    const door = new MotoDoor(moto);
    door.#door = await listening((request, response) => door.#pass(request, response));
    door.#refusing = await listening((request, response) => {
      request.resume();
      refuse(response, 400, 'UnrecognizedClientException');
    });
    return door;
  }

  get endpoint(): string {
    return addressOf(this.#door);
  }

  /** Where every request is refused for its credentials. */
  get refusing(): string {
    return addressOf(this.#refusing);
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.#failing = how;
  }

  /** Cuts the n-th call from now, 0 is the next one, and lets nobody through after it until `heal`. */
  cutAt(left: number, loss: Loss, lost: () => void): void {
    this.#cut = { left, loss, lost };
  }

  heal(): void {
    this.#failing = undefined;
    this.#cut = undefined;
    this.#isShut = false;
  }

  /** Ends moto too. */
  async stop(): Promise<void> {
    for (const server of [this.#door, this.#refusing]) {
      server.closeAllConnections();
      server.close();
    }
    await this.moto.stop();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isShut) return void request.socket.destroy();
    this.targets.push(String(request.headers['x-amz-target'] ?? request.url));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.bodies.push(Buffer.concat(chunks).toString());
      if (this.#failing === 'throttled') return refuse(response, 400, 'ThrottlingException', { 'retry-after': '7' });
      if (this.#failing === 'failing') return refuse(response, 500, 'InternalServiceError');
      if (this.#failing === 'hanging') return;
      const cut = this.#cut?.left === 0 ? this.#cut : undefined;
      if (this.#cut) this.#cut.left -= 1;
      const lose = (): void => {
        this.#isShut = true;
        cut?.lost();
        request.socket.destroy();
      };
      if (cut?.loss === 'request') return lose();
      const { host: _host, connection: _connection, ...headers } = request.headers;
      fetch(`${this.moto.endpoint}${request.url}`, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: Buffer.concat(chunks),
      })
        .then(async (answer) => {
          if (cut) return lose();
          const type = answer.headers.get('content-type') ?? 'application/json';
          response.writeHead(answer.status, { 'content-type': type, 'x-amzn-requestid': 'req-1234' });
          response.end(Buffer.from(await answer.arrayBuffer()));
        })
        .catch(() => response.destroy());
    });
  }
}

async function listening(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
