import type { EnginePackage, Plugin } from '@strongroom/engine-sdk';
import type { ContractCase } from './contract-titles.ts';
import type { KnownNames } from './garbage.ts';
import type { ManualClock } from './manual-clock.ts';
import type { TestMount } from './mount-for-test.ts';

/** Jest's, Vitest's or node:test's own functions. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
}

/** A case that does not apply, and why. The reason is printed with every run. */
export interface ContractSkip {
  readonly test: ContractCase;
  readonly reason: string;
}

/** The engine under test, and how it is prepared. */
export interface EngineContract {
  readonly engine: EnginePackage;
  /** Where it is mounted; the engine's name by default. */
  readonly path?: string;
  /** Mount options, such as a version. */
  readonly options?: Readonly<Record<string, string>>;
  /** Others that the engine uses, such as database plugins. */
  readonly plugins?: readonly Plugin[];
  readonly clock?: () => ManualClock;
  /**
   * Brings a fresh mount into use: writes what there is to write and, if the engine issues anything, has it issued.
   * Resolves with the names it used, by capture: `{ name: ['readonly'] }`.
   */
  prepare(mount: TestMount): Promise<KnownNames | void>;
  /**
   * What the mount has outside after `prepare`, as `outside` of its secret types, its intents and the engine itself tells it: each of these must be in
   * the list that a forced removal answers.
   */
  readonly leavesOutside?: readonly { readonly kind: string; readonly name: RegExp }[];
  /** Patterns of paths whose garbage may reach an outside system: its failure is a 5xx that names it, and no fault. */
  readonly outside?: readonly string[];
  /** Patterns of paths whose read changes something, such as issuing a credential. */
  readonly readsWithEffect?: readonly string[];
  readonly skip?: readonly ContractSkip[];
}
