import { connect, createServer } from 'node:net';

/** Below the ports that systems give out by themselves (from 32768 on Linux, 49152 elsewhere), which any connection of any program may take. */
const FIRST = 16_000;
const LAST = 32_000;

/** `count` different ports of 127.0.0.1 that nothing listens on, nor will before the caller's servers do. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await bindable('127.0.0.1', port)) ports.add(port);
  }
  return [...ports];
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
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
