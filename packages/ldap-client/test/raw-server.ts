import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A server that answers with bytes of the test's choosing. */
export interface RawServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** `answer` gets each chunk that arrives and its number on that connection, from 1. */
export async function startRawServer(answer: (socket: Socket, chunk: Buffer, number: number) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let number = 0;
    socket.on('data', (chunk) => answer(socket, chunk, ++number));
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `ldap://127.0.0.1:${port}`,
    port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One BER element with a short length, or a long one when it must be. */
export function ber(tag: number, ...content: readonly (Buffer | string | number[])[]): Buffer {
  const body = Buffer.concat(content.map((piece) => (Array.isArray(piece) ? Buffer.from(piece) : Buffer.from(piece as string))));
  const length = body.length < 0x80 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

/** The message id of a request whose outer length is short. */
export function idOf(request: Buffer): number {
  return request[4]!;
}

export const responseTag = { bind: 0x61, entry: 0x64, done: 0x65, reference: 0x73, extended: 0x78 };

export function result(id: number, tag: number, code: number, diagnostic = '', ...more: Buffer[]): Buffer {
  const enumerated = code < 0x80 ? ber(0x0a, [code]) : ber(0x0a, [code >> 8, code & 0xff]);
  return ber(0x30, ber(0x02, [id]), ber(tag, enumerated, ber(0x04, ''), ber(0x04, diagnostic), ...more));
}
