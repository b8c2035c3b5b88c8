import { foldName, TokenRefused, type Clock, type Collection, type CountedLogin, type StorageView } from '@strongroom/engine-sdk';
import { hash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { LoginQueues } from './login-queues.ts';
import { lockoutSettings, type LockoutDefaults, type LockoutMount, type LockoutSettings } from './lockout-settings.ts';

const Failures = Type.Object({
  name: Type.String(),
  count: Type.Number(),
  /** Milliseconds since the epoch. */
  last_failure: Type.Number(),
  /** From when on it means nothing. */
  forget_at: Type.Number(),
});
type Failures = Static<typeof Failures>;

/** The failures between two sweeps, and the records that a sweep checks: names that no longer fail are dropped. */
const SWEEP_EVERY = 64;
const SWEEP_SIZE = 256;
/** Names that are counted before some are forgotten early: whoever tries names that nobody has must not fill the store. */
const MOST_NAMES = 50_000;
/** Longer than any name is, and short enough to list. */
const LONGEST_NAME = 512;

/**
 * Counts refused logins per mount and login name, in storage: a lock survives restarts and holds in every process.
 * A login that succeeds without refusals before it writes nothing. The variant of a name does not matter: see `foldName`.
 */
export class UserLockout {
  readonly #storage: StorageView;
  readonly #failures: Collection<Failures>;
  readonly #clock: Clock;
  readonly #defaults: LockoutDefaults;
  readonly #queues = new LoginQueues();
  readonly #most: number;
  #sinceSweep = 0;
  #sweptTo: string | undefined;
  /** In this round of sweeps, and in the whole round before it. */
  #kept = 0;
  #names = 0;

  constructor(parts: {
    readonly storage: StorageView;
    readonly clock: Clock;
    readonly defaults?: LockoutDefaults;
    readonly most?: number;
  }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#defaults = parts.defaults ?? {};
    this.#most = parts.most ?? MOST_NAMES;
    this.#failures = parts.storage.collection('failures/', Failures);
  }

  /**
   * Runs a login under the lockout. At most as many run at once for one name as may still be refused before the lock; the others
   * wait, so that guessing in parallel gains nothing.
   * @param refused whether the login's error means wrong credentials, as opposed to an outage.
   * @param forgets whether a login that succeeded starts the count of the name again.
   * @param signal ends the wait of a login whose turn does not come.
   * @throws TokenRefused while the name is locked; else whatever the login throws.
   */
  async guard<T>(
    mount: LockoutMount,
    name: string | CountedLogin,
    login: () => Promise<T>,
    refused: (error: unknown) => boolean,
    forgets: (result: T) => boolean = () => true,
    signal: () => AbortSignal = () => new AbortController().signal,
  ): Promise<T> {
    const settings = lockoutSettings(mount, this.#defaults);
    if (!settings) return login();
    const queue = this.#queues.enter(failureKey(mount.accessor, name));
    try {
      const before = await queue.admitted(async () => settings.threshold - (await this.#count(mount, name, settings)), signal);
      try {
        const result = await login();
        if ((before < settings.threshold || queue.refusals > 0) && forgets(result)) await this.succeeded(mount, name);
        return result;
      } catch (error) {
        if (refused(error)) {
          try {
            await this.failed(mount, name);
          } finally {
            queue.refusals += 1;
          }
        }
        throw error;
      } finally {
        queue.finished();
      }
    } finally {
      queue.leave();
    }
  }

  /** @throws TokenRefused while the name is locked. */
  async check(mount: LockoutMount, name: string | CountedLogin): Promise<void> {
    const settings = lockoutSettings(mount, this.#defaults);
    if (settings) await this.#count(mount, name, settings);
  }

  async isLocked(mount: LockoutMount, name: string | CountedLogin): Promise<boolean> {
    const settings = lockoutSettings(mount, this.#defaults);
    const stored = settings && (await this.#failures.get(failureKey(mount.accessor, name)));
    return stored !== undefined && isLocked(stored, settings!, this.#clock.millis());
  }

  /** The login was refused for wrong credentials. */
  async failed(mount: LockoutMount, name: string | CountedLogin): Promise<void> {
    const settings = lockoutSettings(mount, this.#defaults);
    if (!settings) return;
    const key = failureKey(mount.accessor, name);
    await this.#storage.transaction(async (tx) => {
      const failures = tx.collection('failures/', Failures);
      const stored = await failures.get(key);
      const now = this.#clock.millis();
      // It was under way when another one locked the name: the lock stands as it is.
      if (stored && isLocked(stored, settings, now)) return;
      await failures.put(key, {
        name: shownName(name),
        count: counted(stored, settings, now) + 1,
        last_failure: now,
        forget_at: now + Math.max(settings.duration, settings.counterReset),
      });
    });
    this.#sinceSweep += 1;
    if (this.#sinceSweep >= SWEEP_EVERY) {
      this.#sinceSweep = 0;
      await this.#sweep();
    }
  }

  async succeeded(mount: LockoutMount, name: string | CountedLogin): Promise<void> {
    const key = failureKey(mount.accessor, name);
    if (lockoutSettings(mount, this.#defaults) && (await this.#failures.has(key))) await this.#failures.delete(key);
  }

  /** Login names that are locked now, by the mounts given. */
  async locked(mounts: readonly LockoutMount[]): Promise<{ accessor: string; names: string[] }[]> {
    const now = this.#clock.millis();
    const found: { accessor: string; names: string[] }[] = [];
    for (const mount of mounts) {
      const settings = lockoutSettings(mount, this.#defaults);
      if (!settings) continue;
      const entries = await this.#failures.entries({ prefix: `${mount.accessor}/` });
      const names = entries.filter(([, failures]) => isLocked(failures, settings, now)).map(([, failures]) => failures.name);
      if (names.length > 0) found.push({ accessor: mount.accessor, names: [...new Set(names)].sort() });
    }
    return found;
  }

  /** For every origin; also when it is not locked. */
  async unlock(accessor: string, name: string): Promise<void> {
    for (const key of await this.#failures.list({ prefix: failureKey(accessor, name) })) await this.#failures.delete(key);
  }

  /** After an unmount. */
  async forgetMount(accessor: string): Promise<void> {
    for (const key of await this.#failures.list({ prefix: `${accessor}/` })) await this.#failures.delete(key);
  }

  /** Refusals in a row so far. @throws TokenRefused while the name is locked. */
  async #count(mount: LockoutMount, name: string | CountedLogin, settings: LockoutSettings): Promise<number> {
    const stored = await this.#failures.get(failureKey(mount.accessor, name));
    const now = this.#clock.millis();
    if (stored && isLocked(stored, settings, now)) throw new TokenRefused();
    return counted(stored, settings, now);
  }

  /**
   * Forgets what means nothing any more, and where there are too many names, of each page the half that was refused the least and the longest ago. Goes round
   * through all records, faster than new ones can come.
   */
  async #sweep(): Promise<void> {
    const now = this.#clock.millis();
    const entries = await this.#failures.entries({ limit: SWEEP_SIZE, ...(this.#sweptTo === undefined ? {} : { after: this.#sweptTo }) });
    this.#sweptTo = entries.length < SWEEP_SIZE ? undefined : entries[entries.length - 1]![0];
    const live = entries
      .filter(([, { forget_at }]) => forget_at > now)
      .sort(([, a], [, b]) => a.count - b.count || a.last_failure - b.last_failure);
    const kept = new Set(this.#names > this.#most ? live.slice(Math.ceil(live.length / 2)) : live);
    for (const entry of entries) if (!kept.has(entry)) await this.#failures.delete(entry[0]);
    this.#kept += kept.size;
    if (this.#sweptTo !== undefined) return;
    this.#names = this.#kept;
    this.#kept = 0;
  }
}

function isLocked(stored: Failures, settings: LockoutSettings, now: number): boolean {
  return stored.count >= settings.threshold && now < stored.last_failure + settings.duration;
}

/** Refusals that still count: none after a lock has ended, none after a long pause. */
function counted(stored: Failures | undefined, settings: LockoutSettings, now: number): number {
  if (!stored || now >= stored.last_failure + settings.counterReset) return 0;
  return stored.count >= settings.threshold ? 0 : stored.count;
}

function shownName(counted: string | CountedLogin): string {
  return foldName(typeof counted === 'string' ? counted : counted.name).slice(0, LONGEST_NAME);
}

/** Variants that a directory takes for the same name are one name here, or each would have guesses of its own. A name's origins are below it. */
function failureKey(accessor: string, counted: string | CountedLogin): string {
  if (typeof counted === 'string') return `${accessor}/${digestOf(foldName(counted))}`;
  return `${failureKey(accessor, counted.name)}/${digestOf(counted.from)}`;
}

function digestOf(text: string): string {
  return hash('sha256', text);
}
