import { driverErrorText, type LoginFailure } from '@strongroom/database-sdk';

/** How the answers of one kind of database are read. Codes are SQLSTATEs, error numbers. */
export interface ServerAnswerRules {
  /** The code of an error that is the server's own answer; undefined for what the driver or the network says. */
  code(error: unknown): string | number | undefined;
  /** The words of an answer, or of another error that the plugin words better; undefined for others. */
  text(error: unknown): string | undefined;
  /** Answers to a login that say that its credential is wrong. */
  readonly credential: readonly (string | number)[];
  /** Answers to a login by which nothing is known about its credential: no such database, a locked account, no login from here. */
  readonly barred: readonly (string | number)[];
  /** Whether the server takes leave with this answer: the connection is of no further use. */
  isFarewell(code: string | number, error: unknown): boolean;
}

/** What an error of a driver says. Spread it into a `SqlDriver`. */
export interface ServerAnswers {
  /** The code of the server's answer; of several the first. Undefined where there was none. */
  code(this: void, error: unknown): string | undefined;
  /** The same for a refusal: undefined also where the connection is of no further use. */
  refusal(this: void, error: unknown): string | undefined;
  /** Whether a connection on which a call failed with this error is of no use to others. */
  isLost(this: void, error: unknown): boolean;
  errorText(this: void, error: unknown): string;
  /** Undefined where the server refuses with one of these codes, or at all where there are none. */
  tolerate<T>(this: void, asked: Promise<T>, ...codes: readonly string[]): Promise<T | undefined>;
  loginFailure(this: void, error: unknown): LoginFailure;
}

export function serverAnswers({ code: codeOf, text, credential, barred, isFarewell }: ServerAnswerRules): ServerAnswers {
  const each = (error: unknown): readonly unknown[] =>
    error instanceof AggregateError && error.errors.length > 0 ? (error.errors as readonly unknown[]) : [error];
  const first = (error: unknown): string | number | undefined =>
    each(error)
      .map(codeOf)
      .find((code) => code !== undefined);
  const isRefusal = (error: unknown): boolean => {
    const code = codeOf(error);
    return code !== undefined && !isFarewell(code, error);
  };
  const refusal = (error: unknown): string | undefined => (each(error).every(isRefusal) ? first(error)?.toString() : undefined);
  return {
    code: (error) => first(error)?.toString(),
    refusal,
    isLost: (error) => refusal(error) === undefined,
    errorText: (error) => driverErrorText(error, text),
    async tolerate(asked, ...codes) {
      try {
        return await asked;
      } catch (error) {
        const code = refusal(error);
        if (code === undefined || (codes.length > 0 && !codes.includes(code))) throw error;
        return undefined;
      }
    },
    loginFailure(error) {
      const code = first(error);
      if (code === undefined) return 'unreachable';
      if (credential.includes(code)) return 'credential';
      return barred.includes(code) ? 'barred' : 'unreachable';
    },
  };
}
