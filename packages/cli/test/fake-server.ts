import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { runCli } from '../src/index.ts';
import type { CliIo } from '../src/index.ts';

/** A request as the server saw it; the body is parsed when there is one. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What to answer. A function decides from the request; an array answers its items in turn, the last one for good. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
export type Route = Answer | readonly Answer[] | ((request: SeenRequest) => Answer);

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly isTty?: boolean;
  readonly stdoutIsTty?: boolean;
  readonly loadServer?: CliIo['loadServer'];
  readonly sleep?: CliIo['sleep'];
  readonly onInterrupt?: CliIo['onInterrupt'];
  readonly openBrowser?: CliIo['openBrowser'];
}

export interface CliLab {
  readonly url: string;
  readonly home: string;
  /** Keyed by `METHOD path?query`, below /v1/, or by `METHOD path?*` for any query. Anything else is 404 with no errors. Emptied before each test. */
  readonly routes: Record<string, Route>;
  readonly seen: SeenRequest[];
  readonly pauses: number[];
  /** Runs the command line against the server, with a token in the environment. */
  run(argv: readonly string[], options?: RunOptions): Promise<Run>;
}

/** A server that records requests and answers from a table, and a home folder of its own, for one test file. */
export function cliLab(): CliLab {
  const seen: SeenRequest[] = [];
  const routes: Record<string, Route> = {};
  const pauses: number[] = [];
  const lab = { url: '', home: '', routes, seen, pauses, run };

  const server = createServer((incoming, reply) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const path = (incoming.url ?? '').replace(/^\/v1\//, '');
      const request: SeenRequest = {
        method: incoming.method ?? '',
        path,
        headers: incoming.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      seen.push(request);
      const route = routes[`${request.method} ${path}`] ?? routes[`${request.method} ${path.split('?')[0]}?*`];
      const answer =
        typeof route === 'function' ? route(request) : Array.isArray(route) ? next(route as Answer[]) : ((route ?? notFound) as Answer);
      reply.statusCode = answer.status ?? (answer.body === undefined && answer.text === undefined ? 204 : 200);
      reply.setHeader('Content-Type', 'application/json');
      for (const [name, value] of Object.entries(answer.headers ?? {})) reply.setHeader(name, value);
      reply.end(answer.text ?? (answer.body === undefined ? '' : `${JSON.stringify(answer.body)}\n`));
    });
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    lab.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    lab.home = await mkdtemp(join(tmpdir(), 'strongroom-cli-'));
  });
  beforeEach(async () => {
    seen.length = 0;
    pauses.length = 0;
    for (const name of Object.keys(routes)) delete routes[name];
    await rm(join(lab.home, '.vault-token'), { force: true });
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(lab.home, { recursive: true, force: true });
  });

  async function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
    const stdout = collector(options.stdoutIsTty === true);
    const stderr = collector(false);
    const code = await runCli(argv, {
      env: { HOME: lab.home, LOGNAME: 'tester', STRONGROOM_ADDR: lab.url, STRONGROOM_TOKEN: 's.OWN', ...options.env },
      stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
      stdout,
      stderr,
      isTty: options.isTty === true,
      ...(options.loadServer === undefined ? {} : { loadServer: options.loadServer }),
      ...(options.onInterrupt === undefined ? {} : { onInterrupt: options.onInterrupt }),
      openBrowser: options.openBrowser ?? (() => Promise.reject(new Error('this test has no browser'))),
      sleep: async (milliseconds, signal) => {
        pauses.push(milliseconds);
        await options.sleep?.(milliseconds, signal);
      },
    });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  }
  return lab;
}

function collector(isTTY: boolean): Writable & { readonly isTTY: boolean; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString('utf8'));
      done();
    },
  });
  return Object.assign(stream, { isTTY, text: () => chunks.join('') });
}

const notFound: Answer = { status: 404, body: { errors: [] } };

function next(answers: Answer[]): Answer {
  return (answers.length > 1 ? answers.shift() : answers[0]) ?? notFound;
}

export function denied(): Answer {
  return { status: 403, body: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } };
}
