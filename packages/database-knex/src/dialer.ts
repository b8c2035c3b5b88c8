import type { LoginFailure } from '@strongroom/database-sdk';
import { NotConnected } from './not-connected.ts';

export interface DialerOptions<Candidate, Connection> {
  /** The places and ways to connect, in order. */
  readonly candidates: readonly Candidate[];
  connect(candidate: Candidate): Promise<Connection>;
  /** What a failure at one candidate says; undefined where it need not be reported. */
  failureText(error: unknown, candidate: Candidate): string | undefined;
  loginFailure(error: unknown): LoginFailure;
  /** Whether the next candidate may do better. */
  goesOn(error: unknown): boolean;
  /** What the text of all failures begins with. */
  readonly prefix?: string;
}

/** Makes connections: tries the candidates in order, starting with what worked last. */
export class Dialer<Candidate, Connection> {
  readonly #options: DialerOptions<Candidate, Connection>;
  #next = 0;

  constructor(options: DialerOptions<Candidate, Connection>) {
    this.#options = options;
  }

  /** Rejects with NotConnected, whose cause says for each candidate what happened. */
  async dial(): Promise<Connection> {
    const { candidates, connect, failureText, loginFailure, goesOn, prefix = '' } = this.#options;
    const failures = new Set<string>();
    const logins = new Set<LoginFailure>();
    // Other calls move the mark meanwhile.
    const first = this.#next;
    for (let tried = 0; tried < candidates.length; tried++) {
      const index = (first + tried) % candidates.length;
      const candidate = candidates[index]!;
      try {
        const connection = await connect(candidate);
        this.#next = index;
        return connection;
      } catch (error) {
        const text = failureText(error, candidate);
        if (text !== undefined) failures.add(text);
        logins.add(loginFailure(error));
        if (!goesOn(error)) break;
      }
    }
    const login = (['credential', 'barred'] as const).find((failure) => logins.has(failure)) ?? 'unreachable';
    throw new NotConnected(new Error(prefix + [...failures].join('; ')), login);
  }
}
