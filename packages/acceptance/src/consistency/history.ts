/** The kinds of objects that `history-checker` has a law for. */
export type Model = 'register' | 'token' | 'once' | 'uses' | 'repeat' | 'loan' | 'quota';

/** What a client asks of an object; which fields count depends on the operation. */
export interface Input {
  readonly op: string;
  readonly value?: string;
  readonly expected?: number;
  /** How often the object can be used in all. */
  readonly uses?: number;
}

/** What a client learned. */
export interface Output {
  readonly ok: boolean;
  readonly version?: number;
  readonly value?: string;
}

/** One call, as `history-checker` reads it. Times are in nanoseconds of this process's monotonic clock. */
export interface RecordedCall {
  readonly model: Model;
  readonly key: string;
  readonly client: number;
  readonly call: number;
  /** 0 where there was no answer, or one that says nothing about the effect. */
  readonly return: number;
  readonly input: Input;
  readonly output: Output | null;
}

/** What is known of a call: its output, that it had no effect and says nothing, or nothing at all. */
export type Outcome = Output | 'no effect' | 'unknown';

/** All calls of one run. */
export class History {
  readonly calls: RecordedCall[] = [];
  #unknown = 0;

  /** Calls whose effect is not known. */
  get unknown(): number {
    return this.#unknown;
  }

  /**
   * Makes a call and records it. A call without effect is left out, and so is one that changes nothing (`reads`) and whose outcome is not known: neither says anything.
   */
  async record(
    about: { model: Model; key: string; client: number; reads?: boolean },
    input: Input,
    make: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const { reads = false, ...named } = about;
    const call = nanoseconds();
    const outcome = await make();
    if (outcome === 'unknown') this.#unknown += 1;
    if (outcome === 'no effect' || (outcome === 'unknown' && reads)) return outcome;
    const known = outcome !== 'unknown';
    this.calls.push({ ...named, call, return: known ? nanoseconds() : 0, input, output: known ? outcome : null });
    return outcome;
  }

  /** Something that nobody asked for, which may happen from now on. */
  mayHappen(about: { model: Model; key: string; client: number }, input: Input): void {
    const { model, key, client } = about;
    this.calls.push({ model, key, client, call: nanoseconds(), return: 0, input, output: null });
  }
}

/** Never 0, which stands for the absence of an answer. */
function nanoseconds(): number {
  return Math.round(performance.now() * 1e6) + 1;
}
