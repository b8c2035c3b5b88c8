import type { Operation, Target } from './load.ts';

/** Sets several servers up for loads that can be compared, over one outside system where there is one. */
export type ComparedLoad = (targets: readonly Target[]) => Promise<{
  readonly operations: Readonly<Record<string, (target: Target) => Operation>>;
  stop(): Promise<void>;
}>;
