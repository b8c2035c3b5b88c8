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
  errorText(this: void, error: unknown): string;
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
  return {
    code: (error) => first(error)?.toString(),
    refusal: (error) => (each(error).every(isRefusal) ? first(error)?.toString() : undefined),
    errorText: (error) => driverErrorText(error, text),
    loginFailure(error) {
      const code = first(error);
      if (code === undefined) return 'unreachable';
      if (credential.includes(code)) return 'credential';
      return barred.includes(code) ? 'barred' : 'unreachable';
    },
  };
}
