import type { FollowedLog, Siblings } from '@strongroom/core';

const FOLLOW = 'log/follow';
const LINES = 'log/lines';
/** Milliseconds, as all that follow. How often a worker says which lines it wants: one that is started later hears it then. */
const AGAIN = 5_000;
/** A wish that is not repeated for so long is over: who had it has ended. */
const OVER = 15_000;
/** Lines are collected for so long. */
const COLLECT = 50;
/** Lines that wait to be handed on; what comes on top is left out. */
const MOST = 4_096;

type Options = Parameters<FollowedLog['follow']>[0];

/** Somebody follows the log at another worker. */
interface Wish extends Pick<Options, 'level' | 'format'> {
  readonly id: string;
}

interface Followed {
  lines: string[];
  timer: NodeJS.Timeout | undefined;
  over: NodeJS.Timeout;
  readonly end: () => void;
}

/** The lines of all workers, for callers who follow the log at one of them. */
export class FollowedWorkers implements FollowedLog {
  readonly #own: FollowedLog;
  readonly #siblings: Siblings;
  /** What callers at this worker follow. */
  readonly #callers = new Map<string, (line: string) => void>();
  /** What the others want of this worker. */
  readonly #wishes = new Map<string, Followed>();
  #last = 0;

  constructor(own: FollowedLog, siblings: Siblings) {
    this.#own = own;
    this.#siblings = siblings;
    siblings.answer<Wish>(FOLLOW, (wish) => this.#grant(wish));
    siblings.answer<{ id: string; lines: readonly string[] }>(LINES, ({ id, lines }) => {
      const add = this.#callers.get(id);
      if (add) for (const line of lines) add(line);
    });
  }

  follow(options: Options, add: (line: string) => void): () => void {
    const id = `${this.#siblings.number}/${process.pid}/${(this.#last += 1)}`;
    const { level, format } = options;
    const wish = (): void => void this.#siblings.ask(FOLLOW, { id, level, format });
    const timer = setInterval(wish, AGAIN).unref();
    const unfollow = this.#own.follow(options, add);
    this.#callers.set(id, add);
    wish();
    return () => {
      clearInterval(timer);
      unfollow();
      this.#callers.delete(id);
    };
  }

  #grant({ id, ...options }: Wish): void {
    const found = this.#wishes.get(id);
    if (found) return void found.over.refresh();
    const followed: Followed = {
      lines: [],
      timer: undefined,
      over: setTimeout(() => {
        followed.end();
        this.#wishes.delete(id);
      }, OVER).unref(),
      end: this.#own.follow(options, (line) => {
        if (followed.lines.length < MOST) followed.lines.push(line);
        followed.timer ??= setTimeout(() => this.#handOn(id, followed), COLLECT).unref();
      }),
    };
    this.#wishes.set(id, followed);
  }

  #handOn(id: string, followed: Followed): void {
    const { lines } = followed;
    followed.lines = [];
    followed.timer = undefined;
    void this.#siblings.ask(LINES, { id, lines });
  }
}
