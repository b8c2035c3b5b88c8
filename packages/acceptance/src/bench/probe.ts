import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Target } from './load.ts';

/** Milliseconds. */
export interface Holds {
  /** The longest time that an answer took. */
  readonly longest: number;
  /** The most of it for which the server's main thread was at work. */
  readonly busiest: number;
}

/** Asks a server for `sys/health` again and again, from a process of its own. */
export class Probe {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;

  constructor({ host, port, pid }: Target) {
    const program = fileURLToPath(new URL('./health-probe.js', import.meta.url));
    this.#child = spawn(process.execPath, [program, host, String(port), String(pid)], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface(this.#child.stdout);
  }

  /** The longest times since the last call. */
  async take(): Promise<Holds> {
    const line = once(this.#lines, 'line') as Promise<[string]>;
    this.#child.stdin.write('\n');
    const { longest, busiest } = JSON.parse((await line)[0]) as Holds;
    return { longest, busiest };
  }

  /** Resolves when it asks no more. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }
}
