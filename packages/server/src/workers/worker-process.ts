import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { rescueHandedConnections } from './handed-connections.ts';
import type { Channel, FromWorker, ToWorker } from './messages.ts';
import type { WorkerPlace } from './worker-siblings.ts';

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker as the supervisor sees it. */
export interface WorkerProcess extends Channel<ToWorker, FromWorker> {
  readonly pid: number;
  kill(): void;
  /** Calls once. */
  onEnd(ended: (end: End) => void): void;
}

/** Starts a worker. */
export type Fork = (place: WorkerPlace) => WorkerProcess;

/**
 * Starts workers with `node:cluster`, which has this process listen for them and hand them connections in turn. Its settings belong to the whole process. `words`: those of
 * the server command, for each worker. Nothing is passed in the environment.
 */
export function clusterFork(words: readonly string[]): Fork {
  const exec = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../worker-main.ts' : '../worker-main.js', import.meta.url));
  return ({ server, number, start, configured }) => {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ exec, args: [String(number), String(start), String(configured), server, ...words], serialization: 'advanced' });
    return new ForkedWorker(withUsualMask(() => cluster.fork()));
  };
}

class ForkedWorker implements WorkerProcess {
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
    rescueHandedConnections(worker);
    // A channel that breaks is followed by the end of the process.
    worker.on('error', () => undefined);
  }

  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  send(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.process.send(message, () => undefined);
  }

  hear(heard: (message: FromWorker) => void): void {
    this.#worker.on('message', heard);
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  onEnd(ended: (end: End) => void): void {
    this.#worker.once('exit', (code: number | null, signal: string | null) => ended({ code, signal }));
  }
}

/** The supervisor makes the sockets of unix listeners: nobody else's until their owner and mode are set. Workers have the mask that the supervisor was started with. */
let usual: number | undefined;

function withUsualMask<T>(work: () => T): T {
  usual ??= process.umask(0o077);
  process.umask(usual);
  try {
    return work();
  } finally {
    process.umask(0o077);
  }
}
