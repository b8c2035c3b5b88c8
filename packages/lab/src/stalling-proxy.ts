import { connect, createServer, type Socket } from 'node:net';

/** Stands before a server on a free loopback port. What is not parked goes through as it is. */
export interface StallingProxy {
  readonly port: number;
  /** Everything that clients have sent so far. */
  received(): Buffer;
  close(): Promise<void>;
}

/**
 * A way to a server that can become slow: from the first data on that hold `marker`, what a client sends on that connection is kept back until
 * the client hangs up. For databases that have no statement which takes its time.
 */
export async function startStallingProxy(target: { readonly host: string; readonly port: number }, marker: string): Promise<StallingProxy> {
  const open = new Set<Socket>();
  const heard: Buffer[] = [];
  const server = createServer((client) => {
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
    let parked = false;
    client.on('data', (data) => {
      heard.push(data);
      parked ||= data.includes(marker);
      if (!parked) upstream.write(data);
    });
    upstream.on('data', (data) => client.write(data));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    received: () => Buffer.concat(heard),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
