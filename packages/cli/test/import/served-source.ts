import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';

/** What the source answers to one path: a text as it is, or a body. */
export interface Recorded {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A small server that answers what an OpenBao server answered, call by call. Tests change what it answers. */
export interface ServedSource {
  readonly address: string;
  /** By path and query below /v1/. What is not here is a 404. */
  readonly answers: Map<string, Recorded>;
  /** Method and path of every call. */
  readonly calls: string[];
  /** Comes before the recorded answers. */
  intercept: ((method: string, path: string, call: IncomingMessage) => Recorded | undefined) | undefined;
  /** What a read answers from now on. */
  set(path: string, data: unknown): void;
  /** The recorded `data` of a read. */
  data(path: string): Record<string, unknown>;
  close(): Promise<void>;
}

const file = new URL('recorded-source.json', import.meta.url);

export async function servedSource(): Promise<ServedSource> {
  const answers = new Map(Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, Recorded>));
  const calls: string[] = [];
  const server = createServer((call, answer) => {
    const path = decodeURIComponent((call.url ?? '').replace(/^\/v1\//, ''));
    const method = call.method ?? '';
    calls.push(`${method} ${path}`);
    call.resume();
    const bad = call.headers['x-vault-token'] !== 'source-root' && path !== 'sys/health';
    const found = source.intercept?.(method, path, call) ??
      (bad ? { status: 403, body: { errors: ['permission denied'] } } : answers.get(path)) ?? { status: 404, body: { errors: [] } };
    answer.writeHead(found.status, { 'Content-Type': 'application/json', ...found.headers });
    answer.end(found.text ?? JSON.stringify(found.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const source: ServedSource = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    calls,
    intercept: undefined,
    set: (path, data) => void answers.set(path, { status: 200, body: { data } }),
    data: (path) => structuredClone((answers.get(path)!.body as { data: Record<string, unknown> }).data),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return source;
}
