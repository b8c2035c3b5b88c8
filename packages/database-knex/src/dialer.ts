import { EventEmitter } from 'node:events';
import type { LoginFailure } from '@strongroom/database-sdk';
import { NotConnected } from './not-connected.ts';
import type { ServerAnswers } from './server-answers.ts';

export interface DialerOptions<Candidate, Connection> {
  /** The places and ways to connect, in order. */
  readonly candidates: readonly Candidate[];
  readonly answers: Pick<ServerAnswers, 'errorText' | 'loginFailure' | 'refusal'>;
  connect(candidate: Candidate): Promise<Connection>;
  /** Makes a connection ready for statements. Where that fails, it is given to `abandon`. */
  prepare?(connection: Connection): Promise<unknown>;
  abandon?(connection: Connection): void;
  /** The name of a candidate in messages. */
  placeOf(candidate: Candidate): string;
  /** Whether the next candidate may do better. Absent: unless the server was reached and has refused. */
  goesOn?(error: unknown): boolean;
  /** Whether a failure is no news where another candidate fails as well. */
  isExpected?(error: unknown): boolean;
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
    const { candidates, answers, placeOf, isExpected, prefix = '' } = this.#options;
    const goesOn = this.#options.goesOn ?? ((error: unknown) => answers.refusal(error) === undefined);
    const failures = new Set<string>();
    const logins = new Set<LoginFailure>();
    // Other calls move the mark meanwhile.
    const first = this.#next;
    for (let tried = 0; tried < candidates.length; tried++) {
      const index = (first + tried) % candidates.length;
      const candidate = candidates[index]!;
      try {
        const connection = await this.#connect(candidate);
        this.#next = index;
        return connection;
      } catch (error) {
        if (!isExpected?.(error)) failures.add(`${placeOf(candidate)}: ${answers.errorText(error)}`);
        logins.add(answers.loginFailure(error));
        if (!goesOn(error)) break;
      }
    }
    const login = (['credential', 'barred'] as const).find((failure) => logins.has(failure)) ?? 'unreachable';
    throw new NotConnected(new Error(prefix + [...failures].join('; ')), login);
  }

  async #connect(candidate: Candidate): Promise<Connection> {
    const { connect, prepare, abandon } = this.#options;
    const connection = await connect(candidate);
    // The pool hears of the end of an idle connection by itself.
    if (connection instanceof EventEmitter) connection.on('error', () => undefined);
    try {
      await prepare?.(connection);
      return connection;
    } catch (error) {
      abandon?.(connection);
      throw error;
    }
  }
}
