import type { Clock, Log } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { SealFailure, type SealFailureKind } from './seal-failure.ts';
import type { SealHandle } from './seal-handle.ts';
import { storedWraps } from './seal-wraps.ts';
import { renewWrap } from './wrap-renewal.ts';
import type { Seal } from './seal.ts';

/** How one enabled seal is. */
export interface SealState {
  readonly name: string;
  readonly type: string;
  readonly priority: number;
  /** Undefined before the first check. */
  readonly healthy: boolean | undefined;
  /** Of an unhealthy seal: when a check failed first. */
  readonly since?: Date;
  readonly failure?: SealFailureKind;
}

interface Failing {
  readonly attempts: number;
  readonly next: Date | undefined;
  readonly since: Date;
  readonly millis: number;
  readonly failure: SealFailure;
}

const SAID: Readonly<Record<SealFailureKind, string>> = {
  unavailable: 'a seal cannot be reached',
  throttled: 'a seal asks for a pause',
  permission: 'a seal refuses permission: somebody must grant it again',
  'wrong key': 'a seal does not open what it has wrapped',
  'wrong answer': 'a seal opens something else than it has wrapped',
};

/** An enabled seal that fails. */
export interface FailingSeal {
  readonly name: string;
  readonly type: string;
  /** For everybody: nothing that the service said. */
  readonly message: string;
  readonly since: Date;
  /** Failed checks since the last that succeeded. */
  readonly attempts: number;
  /** When it is checked again; undefined where checks are switched off. */
  readonly next: Date | undefined;
}

/** What a seal has wrapped, as the store has it. */
export interface WrapState {
  readonly name: string;
  readonly type: string;
  /** The version of the seal's key that wrapped; undefined where this seal has wrapped nothing. */
  readonly keyId: string | undefined;
  /** Why the last check failed, for everybody; undefined after one that succeeded. */
  readonly failure: string | undefined;
}

/**
 * Checks each enabled seal while the server is open. After a check that succeeds, the store has a wrap of this seal, made with the newest version of its key; wraps of
 * seals that are no longer enabled are removed.
 */
export class SealHealth {
  readonly #seal: Seal;
  readonly #driver: StorageDriver;
  readonly #clock: Clock;
  /** Shows dates; `clock` may be monotonic. */
  readonly #now: () => Date;
  readonly #log: Log;
  readonly #failing = new Map<SealHandle, Failing>();
  readonly #checked = new Set<SealHandle>();
  readonly #timers = new Map<SealHandle, () => void>();
  /** Rises with every start and stop: a check that ends later schedules no other. */
  #run = 0;

  constructor(parts: { seal: Seal; driver: StorageDriver; clock: Clock; now: () => Date; log: Log }) {
    this.#seal = parts.seal;
    this.#driver = parts.driver;
    this.#clock = parts.clock;
    this.#now = parts.now;
    this.#log = parts.log;
  }

  /** The first check is made at once. */
  start(): void {
    this.stop();
    for (const seal of this.#seal.seals.enabled) this.#next(seal, 0, this.#run);
  }

  stop(): void {
    this.#run += 1;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#failing.clear();
    this.#checked.clear();
  }

  /** Checks every enabled seal at once, and wraps the seal key again where its key has a newer version. */
  async checkNow(): Promise<void> {
    const run = this.#run;
    await Promise.all(this.#seal.seals.enabled.map(async (seal) => this.#check(seal, run)));
  }

  /** A try to open the store failed with these. Seals that are not among them were not asked, or answered. */
  notOpened(failures: readonly SealFailure[]): void {
    for (const seal of this.#seal.seals.enabled) {
      const failure = failures.find((one) => one.seal === seal.name);
      if (failure) this.#note(seal, failure);
      else this.#failing.delete(seal);
    }
  }

  /** What the enabled seals have wrapped. */
  async wraps(): Promise<WrapState[]> {
    const wraps = (await storedWraps(this.#driver))?.wraps ?? [];
    return this.#seal.seals.enabled.map((seal) => ({
      name: seal.name,
      type: seal.type,
      keyId: wraps.find(({ name, type }) => name === seal.name && type === seal.type)?.key_id,
      failure: this.#failing.get(seal)?.failure.message,
    }));
  }

  get states(): SealState[] {
    return this.#seal.seals.enabled.map((seal) => {
      const failing = this.#failing.get(seal);
      return {
        ...{ name: seal.name, type: seal.type, priority: seal.priority },
        healthy: failing ? false : this.#checked.has(seal) ? true : undefined,
        ...(failing ? { since: failing.since, failure: failing.failure.kind } : {}),
      };
    });
  }

  /** Seconds for which each enabled seal has failed; 0 while it is healthy. */
  unreachableSeconds(): { readonly name: string; readonly seconds: number }[] {
    return this.#seal.seals.enabled.map((seal) => {
      const failing = this.#failing.get(seal);
      return { name: seal.name, seconds: failing ? (this.#clock.millis() - failing.millis) / 1_000 : 0 };
    });
  }

  /** The enabled seals that fail. `alone`: no other is left, so a restart leaves the server sealed. */
  get failing(): { readonly seals: readonly FailingSeal[]; readonly alone: boolean } {
    const seals = [...this.#failing].map(
      ([
        { name, type },
        {
          failure: { message },
          ...failing
        },
      ]) => ({ name, type, message, ...failing }),
    );
    return { seals, alone: seals.length === this.#seal.seals.enabled.length };
  }

  /** A sentence for each enabled seal that fails. Open to everybody, so it holds nothing that a service said. */
  get warnings(): string[] {
    const { seals, alone } = this.failing;
    return seals.map(
      ({ message, since }) =>
        `${message}, since ${since.toISOString()}${alone ? '; until it works again, a restart leaves this server sealed' : ''}`,
    );
  }

  #next(seal: SealHandle, millis: number, run: number): void {
    const cancel = this.#clock.after(millis, () => {
      void this.#check(seal, run).then((healthy) => {
        if (run === this.#run && seal.health.enabled) this.#next(seal, healthy ? seal.health.interval : seal.health.unhealthyInterval, run);
      });
    });
    this.#timers.set(seal, cancel);
  }

  async #check(seal: SealHandle, run: number): Promise<boolean> {
    try {
      await seal.check();
      const { opened } = this.#seal;
      if (opened) await renewWrap({ driver: this.#driver, log: this.#log, enabled: this.#seal.seals.enabled }, seal, opened);
    } catch (error) {
      if (run === this.#run) this.#failed(seal, error instanceof SealFailure ? error : new SealFailure(seal.name, error));
      return false;
    }
    if (run !== this.#run) return true;
    this.#checked.add(seal);
    const before = this.#failing.get(seal);
    this.#failing.delete(seal);
    if (before)
      this.#log.info('a seal works again', { seal: seal.name, seconds: Math.round((this.#clock.millis() - before.millis) / 1_000) });
    return true;
  }

  #failed(seal: SealHandle, failure: SealFailure): void {
    const since = this.#note(seal, failure);
    this.#log.warn(SAID[failure.kind], { seal: seal.name, reason: failure.reason, since: since.toISOString() });
  }

  /** Since when the seal fails. */
  #note(seal: SealHandle, failure: SealFailure): Date {
    const now = this.#now();
    const { since, millis, attempts } = this.#failing.get(seal) ?? { since: now, millis: this.#clock.millis(), attempts: 0 };
    const next = seal.health.enabled ? new Date(now.getTime() + seal.health.unhealthyInterval) : undefined;
    this.#failing.set(seal, { since, millis, attempts: attempts + 1, next, failure });
    return since;
  }
}
