import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * One keep-alive connection that does one request at a time. It parses no more of HTTP than the answers of this server need, so
 * that the load costs less than what it measures.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static async open(host: string, port: number): Promise<HttpConnection> {
    const socket = connect({ host, port });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new HttpConnection(socket);
  }

  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }

  #take(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#buffer.toString('latin1', 0, end);
    const body = bodyIn(this.#buffer, end + 4, head);
    if (!body) return;
    const answer = { status: Number(head.slice(9, 12)), body: body.text() };
    this.#buffer = this.#buffer.subarray(body.end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }
}

const LAST_CHUNK = '\r\n0\r\n\r\n';

/** The body that begins at `start`, where all of it has come. A chunked one, which only answers of other servers have, is no more than measured. */
function bodyIn(buffer: Buffer, start: number, head: string): { readonly end: number; text(): string } | undefined {
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    if (buffer.toString('latin1', buffer.length - LAST_CHUNK.length) !== LAST_CHUNK) return undefined;
    return { end: buffer.length, text: () => '' };
  }
  const end = start + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return buffer.length < end ? undefined : { end, text: () => buffer.toString('utf8', start, end) };
}

/** The text of a request, made once per workload where it does not change. */
export function requestText(method: string, path: string, token: string, body = ''): string {
  return (
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
    (token === '' ? '' : `X-Vault-Token: ${token}\r\n`) +
    (body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`) +
    `\r\n${body}`
  );
}
