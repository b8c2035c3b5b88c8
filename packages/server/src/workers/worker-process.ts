import { fork as forkProcess, type ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { LmdbChoice } from '../config/configuration.ts';
import { rescueHandedConnections } from './handed-connections.ts';
import type { Channel, FromWorker, ToWorker } from './messages.ts';
import type { WorkerPlace } from './worker-siblings.ts';

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it never started, as where the machine has no room for another process. */
  readonly reason?: string;
}

/** A worker, or the process that writes for the workers, as the supervisor sees it. */
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
  const exec = programOf('worker-main');
  return ({ server, number, start, configured }) => {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ exec, args: [String(number), String(start), String(configured), server, ...words], serialization: 'advanced' });
    return startedProcess(() => {
      const worker = cluster.fork();
      rescueHandedConnections(worker);
      worker.on('error', () => undefined);
      return worker.process;
    });
  };
}

/** Starts the process that writes to a store of LMDB for the workers; it says `beat` and `failed`, and hears `stop`. */
export function writerFork({ path, mapSizeBytes, residentBytes }: LmdbChoice): () => WorkerProcess {
  const program = programOf('writer-main');
  const options = JSON.stringify({ path, mapSizeBytes, residentBytes });
  return () => startedProcess(() => forkProcess(program, [options], { serialization: 'advanced' }));
}

/** A file beside the main one, in the sources and in what is built of them. */
function programOf(name: string): string {
  const file = import.meta.url.endsWith('.ts') ? `../${name}.ts` : `../${name}.js`;
  return fileURLToPath(new URL(file, import.meta.url));
}

/** Never throws: one that the system does not start ends with the reason. Some of them are thrown, others are reported later. */
export function startedProcess(fork: () => ChildProcess): WorkerProcess {
  try {
    return new ForkedProcess(withUsualMask(fork));
  } catch (error) {
    return {
      pid: 0,
      send: () => undefined,
      hear: () => undefined,
      kill: () => undefined,
      onEnd: (ended) => void setImmediate(() => ended(neverStarted(error))),
    };
  }
}

function neverStarted(error: unknown): End {
  return { code: 1, signal: null, reason: `it could not be started: ${(error as Error).message}` };
}

class ForkedProcess implements WorkerProcess {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    // A channel that breaks is followed by the end of the process.
    child.on('error', () => undefined);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  hear(heard: (message: FromWorker) => void): void {
    this.#child.on('message', heard);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  onEnd(ended: (end: End) => void): void {
    this.#child.once('exit', (code, signal) => ended({ code, signal }));
    // Who never started never exits.
    this.#child.once('error', (error) => this.#child.pid === undefined && ended(neverStarted(error)));
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
