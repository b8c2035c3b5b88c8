import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy that stands between client and server and misbehaves on request. */
export interface TcpProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Connections open now. */
  readonly open: number;
  /** Cuts every open connection; `politely` with an end of stream, otherwise with a reset. */
  cut(politely?: boolean): void;
  /** From now on nothing passes in either direction until `resume`; connections stay open. */
  stall(): void;
  resume(): void;
  /** From now on what arrives is kept back, in both directions, until `release` passes it on. */
  hold(): void;
  /** Pieces kept back now. */
  readonly held: number;
  release(): void;
  /** Cuts the connection on which the next bytes from the client arrive, after passing them on. */
  cutAfterNextRequest(): void;
  /** From now on connections are accepted and closed at once. */
  refuse(): void;
  stop(): Promise<void>;
}

/** A proxy on a free loopback port before the server at `target`. */
export async function startTcpProxy(target: number, host = '127.0.0.1'): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let accepted = 0;
  let stalled = false;
  let held: (() => void)[] | undefined;
  /** Now, never or later. */
  const pass = (send: () => void): void => {
    if (held) held.push(send);
    else if (!stalled) send();
  };
  let refusing = false;
  let cutNext = false;
  const server = createServer((near) => {
    accepted++;
    if (refusing) {
      near.destroy();
      return;
    }
    const far = connect(target, host);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const drop = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near.on('error', drop).on('close', drop);
    far.on('error', drop).on('close', drop);
    near.on('data', (chunk) =>
      pass(() => {
        far.write(chunk, cutNext ? () => near.resetAndDestroy() : undefined);
        cutNext = false;
      }),
    );
    far.on('data', (chunk) => pass(() => void near.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    get open() {
      return pairs.size;
    },
    cut: (politely = false) => {
      for (const [near] of pairs)
        if (politely) near.end();
        else near.resetAndDestroy();
    },
    stall: () => void (stalled = true),
    resume: () => void (stalled = false),
    hold: () => void (held ??= []),
    get held() {
      return held?.length ?? 0;
    },
    release: () => {
      const late = held ?? [];
      held = undefined;
      for (const send of late) send();
    },
    cutAfterNextRequest: () => void (cutNext = true),
    refuse: () => void (refusing = true),
    stop: async () => {
      for (const [near, far] of pairs) {
        near.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
