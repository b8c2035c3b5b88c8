import type { Siblings } from '../../kernel/siblings.ts';
import type { LogLevel, LogLevelStore } from './log-levels.ts';

/** Sets one logger, or all; without a level, back to the configured one. */
interface LevelChange {
  readonly name?: string | undefined;
  readonly level?: LogLevel | undefined;
}

/** The log levels of all processes of a server: what an operator sets in one counts in the others, and in one that is started later. */
export class SharedLogLevels implements LogLevelStore {
  readonly #own: LogLevelStore;
  readonly #siblings: Siblings;
  /** What was set since the start, in order; of one logger, the latest alone. */
  #changes: LevelChange[] = [];

  constructor(own: LogLevelStore, siblings: Siblings) {
    this.#own = own;
    this.#siblings = siblings;
    siblings.answer<LevelChange>('log-levels/change', (change) => this.#take(change));
    siblings.answer('log-levels', () => this.#changes);
  }

  list(): ReadonlyMap<string, LogLevel> {
    return this.#own.list();
  }

  async set(level: LogLevel, name?: string): Promise<void> {
    await this.#change({ name, level });
  }

  async reset(name?: string): Promise<void> {
    await this.#change({ name });
  }

  /** At the start, once there are loggers: sets what was set in the others. */
  async follow(): Promise<void> {
    const [changes = []] = await this.#siblings.ask<LevelChange[]>('log-levels');
    for (const change of changes) this.#take(change);
  }

  async #change(change: LevelChange): Promise<void> {
    this.#take(change);
    await this.#siblings.ask('log-levels/change', change);
  }

  #take(change: LevelChange): void {
    const { name, level } = change;
    this.#changes = name === undefined ? [change] : [...this.#changes.filter((other) => other.name !== name), change];
    if (level === undefined) void this.#own.reset(name);
    else void this.#own.set(level, name);
  }
}
