import { connect, createServer, type Socket } from 'node:net';

/** Changes what a client sends; `cut` ends the connection instead, and `deafen` passes it on and ends the connection before the answer. */
export type Interception = (data: Buffer) => Buffer | 'cut' | 'deafen';

/** Stands before a server on a free loopback port: a link that can go dead without a word. */
export interface FreezingProxy {
  readonly port: number;
  /** Passes nothing on any more, in either direction, of the connections whose first message holds `marker`: all of them by default. New ones too. */
  freeze(marker?: string): void;
  /** Passes on what was held back. */
  thaw(): void;
  /** Ends all connections. */
  cut(): void;
  /** Undefined ends it. */
  intercept(change: Interception | undefined): void;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  first: Buffer | undefined;
  held: (() => void)[];
}

/** `target` is looked at for each connection. */
export async function startFreezingProxy(target: { readonly host: string; readonly port: number }): Promise<FreezingProxy> {
  const links = new Set<Link>();
  let frozen: string | undefined;
  let change: Interception | undefined;
  const isFrozen = ({ first }: Link): boolean => frozen !== undefined && (first?.includes(frozen) ?? false);
  /** Now, or when the link is thawed. */
  const pass = (link: Link, step: () => void): void => {
    if (isFrozen(link)) link.held.push(step);
    else step();
  };
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    const link: Link = { client, upstream, first: undefined, held: [] };
    links.add(link);
    for (const socket of [client, upstream]) {
      socket
        .on('error', () => undefined)
        .on('close', () =>
          pass(link, () => {
            links.delete(link);
            client.destroy();
            upstream.destroy();
          }),
        );
    }
    client.on('data', (data) => {
      link.first ??= data;
      pass(link, () => {
        const passed = change?.(data) ?? data;
        if (passed === 'cut') return void client.destroy();
        if (passed !== 'deafen') return void upstream.write(passed);
        client.destroy();
        upstream.end(data);
      });
    });
    upstream.on('data', (data) => pass(link, () => client.write(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const { client, upstream } of links) for (const socket of [client, upstream]) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    freeze: (marker = '') => void (frozen = marker),
    thaw() {
      frozen = undefined;
      for (const link of links) for (const step of link.held.splice(0)) step();
    },
    cut,
    intercept: (next) => void (change = next),
    close: () =>
      new Promise((resolve) => {
        frozen = undefined;
        server.close(() => resolve());
        cut();
      }),
  };
}
