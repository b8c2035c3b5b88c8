import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { request, type Dispatcher } from 'undici';
import { createHttpServer, type CoreHandler, type HttpServerOptions } from '../src/index.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
}

export interface RunningServer {
  readonly server: Server;
  readonly port: number;
  send(method: string, path: string, options?: { headers?: Record<string, string>; body?: string | Buffer }): Promise<Reply>;
  /** Writes pieces as they are, each in a packet of its own, and resolves with all that came back until the server closed. */
  raw(...pieces: (string | Buffer)[]): Promise<string>;
  connect(): Promise<Socket>;
  stop(): Promise<void>;
}

export async function startServer(core: CoreHandler, options: HttpServerOptions = {}): Promise<RunningServer> {
  const server = createHttpServer(core, options) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    await once(socket, 'connect');
    return socket;
  };
  return {
    server,
    port,
    connect: open,
    async send(method, path, { headers = {}, body } = {}) {
      const response = await request(`http://127.0.0.1:${port}${path}`, {
        method: method as Dispatcher.HttpMethod,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
    },
    async raw(...pieces) {
      const socket = await open();
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      // The server may close while pieces are still written, and `once` would reject with what that write meets.
      const closed = new Promise((resolve) => socket.once('close', resolve));
      for (const piece of pieces) {
        if (socket.destroyed) break;
        await new Promise((resolve) => socket.write(piece, resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await closed;
      return received;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function headOf(method: string, target: string, ...headers: string[]): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: test', ...headers, '', ''].join('\r\n');
}
