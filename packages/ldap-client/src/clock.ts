/** Time, as an argument: the part of the engines' clock that this package needs. */
export interface DirectoryClock {
  millis(): number;
  /** Calls back once, no earlier than `millis` from now; returns the cancellation. */
  after(millis: number, callback: () => void): () => void;
}

export const realClock: DirectoryClock = {
  millis: () => Date.now(),
  after(millis, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(millis, 0), 2 ** 31 - 1));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Where the directory tells what it does to servers and connections. Never given a password. */
export interface DirectoryLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export const noLog: DirectoryLog = { debug: () => {}, warn: () => {} };
