import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'lmdb';
import type { Allocator } from './heap-sampler.ts';
import { cpuMicros, mainThreadMillis, processTree } from './process-usage.ts';
import type { ProbeReport } from './usage-probe.ts';

/** What a process has used since it started. */
export interface Usage {
  /** User and system time of all threads, of a server's workers too. */
  readonly cpuMicros: number;
  /** Of the main thread; together with those of all workers where there are several. */
  readonly mainMicros: number;
  /** The part of the main threads' time in which they collected garbage. */
  readonly gcMicros: number;
  /** Committed transactions of its LMDB store; NaN without one. */
  readonly transactions: number;
}

/** Reads the usage of a process that runs with `usage-probe`, and of its store. */
export class Meter {
  readonly #child: ChildProcess;
  readonly #storeFolder: string | undefined;

  /** @param storeFolder where its LMDB store is, if it has one */
  constructor(child: ChildProcess, storeFolder: string | undefined) {
    this.#child = child;
    this.#storeFolder = storeFolder;
  }

  async read(): Promise<Usage> {
    const gc = await this.#ask<ProbeReport>('usage');
    const processes = processTree(this.#child.pid!);
    return {
      cpuMicros: sum(processes, cpuMicros),
      mainMicros: sum(processes, mainThreadMillis) * 1_000,
      gcMicros: gc.gcMillis * 1_000,
      transactions: await this.#transactions(),
    };
  }

  /** Which functions of the process allocate while the work is done, the largest first. Of a server with workers, those of its supervisor. */
  async allocations(work: () => Promise<unknown>): Promise<readonly Allocator[]> {
    await this.#ask('sample-heap');
    await work();
    return this.#ask('heap-samples');
  }

  async #ask<T>(order: 'usage' | 'sample-heap' | 'heap-samples'): Promise<T> {
    const answered = new AbortController();
    const { signal } = answered;
    try {
      const answer = once(this.#child, 'message', { signal }).then(([report]) => report as T);
      const ended = once(this.#child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the measured process ended with ${String(code)}`);
      });
      this.#child.send(order);
      return await Promise.race([answer, ended]);
    } finally {
      answered.abort();
    }
  }

  async #transactions(): Promise<number> {
    if (this.#storeFolder === undefined) return Number.NaN;
    const store = open({ path: this.#storeFolder, noSubdir: false, readOnly: true });
    try {
      return (store.getStats() as { lastTxnId: number }).lastTxnId;
    } finally {
      await store.close();
    }
  }
}

/** What each of a number of operations used, in microseconds, and how many shared a transaction; undefined where there was none. */
export interface UsageEach {
  readonly cpuMicros: number;
  readonly mainMicros: number;
  readonly gcMicros: number;
  readonly perTransaction: number | undefined;
}

export function usageEach(before: Usage, after: Usage, operations: number): UsageEach {
  const each = (of: 'cpuMicros' | 'mainMicros' | 'gcMicros'): number => (after[of] - before[of]) / Math.max(1, operations);
  const transactions = after.transactions - before.transactions;
  return {
    cpuMicros: each('cpuMicros'),
    mainMicros: each('mainMicros'),
    gcMicros: each('gcMicros'),
    perTransaction: transactions < operations / 1_000 ? undefined : operations / transactions,
  };
}

function sum(processes: readonly number[], of: (pid: number) => number): number {
  return processes.reduce((total, pid) => total + of(pid), 0);
}
