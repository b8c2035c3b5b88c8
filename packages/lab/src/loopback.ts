import { connect, createServer } from 'node:net';

/** `count` different ports of 127.0.0.1 that nothing listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** An address of 127.0.0.0/8, other than 127.0.0.1, with this port free: for servers whose port cannot be chosen. Rejects where the port may not be used. */
export async function freeLoopbackAddress(port: number): Promise<string> {
  for (;;) {
    const octet = (): number => 1 + Math.floor(Math.random() * 254);
    const address = `127.${octet()}.${octet()}.${octet()}`;
    if (await bindable(address, port)) return address;
  }
}

function bindable(address: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}

export function listening(port: number, address = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
