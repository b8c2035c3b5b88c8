import { HttpConnection, requestText } from './http-connection.ts';
import { usageEach, type Meter, type UsageEach } from './meter.ts';
import { residentMib } from './process-usage.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** The server's process, for its CPU time and memory. */
  readonly pid: number;
  readonly meter: Pick<Meter, 'read'>;
}

/** One operation: a request, or several that belong together. Throws when an answer is not what it should be. */
export type Operation = (connection: HttpConnection, random: () => number) => Promise<void>;

/** What one run of a workload showed. */
export interface Figures extends UsageEach {
  readonly name: string;
  readonly operations: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly residentMib: number;
}

export interface LoadOptions {
  readonly connections?: number;
  /** Seconds; or stop after `count` operations. */
  readonly seconds?: number;
  readonly count?: number;
  /** In place of both: asked before each operation. */
  readonly while?: () => boolean;
}

/** Drives one workload over a number of connections. The first failed operation ends it. */
export async function load(name: string, target: Target, operation: Operation, options: LoadOptions = {}): Promise<Figures> {
  const { connections = 32, seconds = 5, count = Infinity } = options;
  const open = await Promise.all(Array.from({ length: connections }, async () => HttpConnection.open(target.host, target.port)));
  const latencies: number[] = [];
  const before = await target.meter.read();
  const began = performance.now();
  const until = options.count === undefined && options.while === undefined ? began + seconds * 1_000 : Infinity;
  let started = 0;
  try {
    await Promise.all(
      open.map(async (connection, i) => {
        const random = generator(i + 1);
        for (;;) {
          const at = performance.now();
          if (at >= until || started >= count || options.while?.() === false) return;
          started += 1;
          await operation(connection, random);
          latencies.push(performance.now() - at);
        }
      }),
    );
  } finally {
    for (const connection of open) connection.close();
  }
  const elapsed = (performance.now() - began) / 1_000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number): number => latencies[Math.floor((latencies.length - 1) * q)] ?? 0;
  return {
    name,
    operations: latencies.length,
    perSecond: Math.round(latencies.length / elapsed),
    ...usageEach(before, await target.meter.read(), latencies.length),
    p50: quantile(0.5),
    p99: quantile(0.99),
    residentMib: residentMib(target.pid),
  };
}

/** A fixed request over and over. */
export function repeat(text: string, expected: readonly number[] = [200, 204]): Operation {
  return async (connection) => {
    const answer = await connection.send(text);
    if (!expected.includes(answer.status))
      throw new Error(`${text.slice(0, text.indexOf('\r\n'))}: ${answer.status} ${answer.body.slice(0, 300)}`);
  };
}

export async function once(
  target: Target,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: Record<string, never> }> {
  const connection = await HttpConnection.open(target.host, target.port);
  try {
    const answer = await connection.send(requestText(method, path, target.token, body === undefined ? '' : JSON.stringify(body)));
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
    return { status: answer.status, json: answer.body === '' ? {} : (JSON.parse(answer.body) as Record<string, never>) };
  } finally {
    connection.close();
  }
}

/** A small generator with a seed, so that two runs ask for the same things. */
function generator(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
