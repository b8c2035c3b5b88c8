import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What is lost of a call: the request before it reaches the server, or the answer. */
export type Loss = 'request' | 'answer';

/** Stands between an engine and an API over HTTP, counts calls, and cuts at the one that a test names. */
export interface CallCutter {
  readonly url: string;
  /** Method and path of each call, in order. */
  readonly seen: string[];
  /** From now on, cuts the connection at the n-th call (0 is the next one), once; and calls back when the loss has happened. Until `open`, nobody gets through then. */
  cutAt(n: number, loss: Loss, lost: () => void): void;
  open(): void;
  stop(): Promise<void>;
}

/** A cutter on a free loopback port, before the API at `port`. */
export async function startCallCutter(port: number): Promise<CallCutter> {
  const seen: string[] = [];
  let plan: { left: number; loss: Loss; lost: () => void } | undefined;
  let isShut = false;
  const pass = (near: IncomingMessage, answer: ServerResponse, done: () => boolean): void => {
    const far = request({ host: '127.0.0.1', port, method: near.method, path: near.url, headers: near.headers }, (got) => {
      const chunks: Buffer[] = [];
      got.on('data', (chunk: Buffer) => chunks.push(chunk));
      got.on('end', () => {
        if (!done()) return void near.socket.destroy();
        answer.writeHead(got.statusCode ?? 502, got.headers);
        answer.end(Buffer.concat(chunks));
      });
    });
    far.on('error', () => near.socket.destroy());
    near.pipe(far);
  };
  const server = createServer((near, answer) => {
    if (isShut) return void near.socket.destroy();
    seen.push(`${near.method} ${near.url}`);
    const mine = plan?.left === 0 ? plan : undefined;
    if (plan) plan.left -= 1;
    if (!mine) return pass(near, answer, () => !isShut);
    plan = undefined;
    const lose = (): boolean => {
      isShut = true;
      mine.lost();
      return false;
    };
    if (mine.loss === 'answer') return pass(near, answer, lose);
    lose();
    near.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    cutAt: (left, loss, lost) => {
      plan = { left, loss, lost };
    },
    open: () => {
      plan = undefined;
      isShut = false;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
