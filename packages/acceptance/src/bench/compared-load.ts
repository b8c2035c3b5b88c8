import type { Operation, Target } from './load.ts';

/** Loads that can be compared between several servers, over one outside system where there is one. */
export interface ComparedLoad<Name extends string = string> {
  /** Of its workloads: nothing is set up where none of them is chosen. */
  readonly names: readonly Name[];
  /** Sets the servers up. */
  start(targets: readonly Target[]): Promise<{
    readonly operations: Readonly<Record<Name, (target: Target) => Operation>>;
    stop(): Promise<void>;
  }>;
}

/** Names the compiler holds to those of the operations. */
export function comparedLoad<const Name extends string>(names: readonly Name[], start: ComparedLoad<Name>['start']): ComparedLoad<Name> {
  return { names, start };
}
