import { createCore } from '@strongroom/core';
import type { Plugin } from '@strongroom/engine-sdk';
import { manualClock } from '@strongroom/engine-testkit';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { CallRefused, KillableServer } from './killable-server.ts';
import type { RecoveryTimes } from './recovery-times.ts';

export interface KillReport {
  readonly kills: number;
  /** Changes that were asked for and answered before a kill. */
  readonly acknowledged: number;
  /** Changes that a kill cut off. */
  readonly cutOff: number;
  /** Of the server, from SIGKILL on, in this run and those before. */
  readonly recovery: RecoveryTimes;
  /** What went wrong; empty when nothing did. */
  readonly problems: readonly string[];
}

/** One kind of change, into which kills come. */
export interface KillScenario {
  /** What the changes need, before each round. */
  supply?(): Promise<void>;
  /** One change, until it is answered; `i` is another for each. False where nothing is left to do. */
  change(i: number, stop: AbortSignal): Promise<boolean>;
  /** What is wrong after a restart. */
  check(): Promise<readonly string[]>;
  /** What is wrong when every lease has ended and every undo is through. */
  settled(): Promise<readonly string[]>;
}

/** An engine, configured over a real outside system that it changes. */
export interface KillTarget<Name extends string> {
  /** Of the outside system. */
  readonly name: string;
  /** The engine and its plugins. */
  readonly plugins: readonly Plugin[];
  /** Mounts the engine on a new server. */
  prepare(server: KillableServer): Promise<Readonly<Record<Name, KillScenario>>>;
  stop(): Promise<void>;
}

const WORKERS = 4;

/**
 * Kills a server with SIGKILL while it changes an outside system, again and again on the same store, and looks after each start what the
 * scenario says must hold.
 */
export class KillRun<Name extends string> {
  readonly #target: KillTarget<Name>;
  readonly #server: KillableServer;
  readonly #scenarios: Readonly<Record<Name, KillScenario>>;
  #answered: () => void = () => undefined;
  #acknowledged = 0;
  #cutOff = 0;
  #problems: string[] = [];

  private constructor(target: KillTarget<Name>, server: KillableServer, scenarios: Readonly<Record<Name, KillScenario>>) {
    this.#target = target;
    this.#server = server;
    this.#scenarios = scenarios;
  }

  static async create<Name extends string>(target: KillTarget<Name>): Promise<KillRun<Name>> {
    const server = await KillableServer.start();
    return new KillRun(target, server, await target.prepare(server));
  }

  /** Stops at the first round that finds a problem. */
  async run(name: Name, kills: number, random: () => number): Promise<KillReport> {
    const scenario = this.#scenarios[name];
    this.#acknowledged = this.#cutOff = 0;
    this.#problems = [];
    let kill = 0;
    while (kill < kills && this.#problems.length === 0) {
      kill += 1;
      await scenario.supply?.();
      const stop = new AbortController();
      const work = Array.from({ length: WORKERS }, async (_, worker) => this.#work(scenario, worker, stop.signal));
      // Of a server that has just been started; every other one has answered once, since on a busy machine that takes longer than the random time.
      if (kill % 2 === 0) await Promise.race([new Promise<void>((resolve) => (this.#answered = resolve)), Promise.allSettled(work)]);
      // A change takes some milliseconds: every kill comes in the middle of several.
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.floor(random() * 120)));
      await this.#server.dieDuring(work, () => stop.abort());
      const found = await scenario.check();
      this.#problems.push(...found.map((problem) => `${name} on ${this.#target.name}, kill ${kill}: ${problem}`));
    }
    return {
      kills: kill,
      acknowledged: this.#acknowledged,
      cutOff: this.#cutOff,
      recovery: this.#server.recovery,
      problems: this.#problems,
    };
  }

  /** The undos and all that is due, on the same store with a clock that is moved. Resolves with what is wrong then. */
  async settle(): Promise<readonly string[]> {
    await this.#server.stop();
    const clock = manualClock(new Date());
    const core = await createCore({
      storage: await lmdbStorage({ path: this.#server.store }),
      plugins: this.#target.plugins,
      clock,
      seal: { type: 'static', key: this.#server.sealKey },
    });
    for (let minute = 0; minute < 130; minute += 1) {
      await clock.advance('1m');
      await core.settleSchedule();
    }
    await core.close();
    await this.#server.open();
    const pending = await this.#server.intents();
    const problems = pending > 0 ? [`${pending} undos are still pending`] : [];
    for (const scenario of Object.values<KillScenario>(this.#scenarios)) problems.push(...(await scenario.settled()));
    return problems.map((problem) => `${this.#target.name}, settled: ${problem}`);
  }

  async dispose(): Promise<void> {
    await this.#server.dispose();
  }

  async #work(scenario: KillScenario, worker: number, stop: AbortSignal): Promise<void> {
    for (let i = worker; !stop.aborted; i += WORKERS) {
      try {
        if (!(await scenario.change(i, stop))) return;
        this.#acknowledged += 1;
        this.#answered();
      } catch (error) {
        // Two rotations of one thing are one, and the second caller gets an error; nobody else takes over a rotation that a kill cut off for a while.
        if (error instanceof CallRefused && error.status === 429) {
          this.#answered();
          continue;
        }
        if (error instanceof CallRefused) this.#problems.push(String(error));
        else this.#cutOff += 1;
        return;
      }
    }
  }
}
