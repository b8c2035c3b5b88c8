import { connect, type Socket } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';

/** Speaks TLS on a free loopback port and passes what it decrypts on. */
export interface TlsFront {
  readonly port: number;
  close(): Promise<void>;
}

/** For servers that cannot themselves ask for client certificates or refuse versions of TLS: `options` are those of Node's TLS server. */
export async function startTlsFront(target: { readonly host: string; readonly port: number }, options: TlsOptions): Promise<TlsFront> {
  const open = new Set<Socket>();
  const server = createServer(options, (client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.pipe(upstream).pipe(client);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
