import { BadRequest, InvalidRequest, Unavailable, UpstreamFailed } from '@strongroom/engine-sdk';
import type { LoginFailure } from '@strongroom/database-sdk';
import type { Outcome } from '@strongroom/rotation';

/** The database, or the plugin that speaks to it, failed. The text names the connection and holds no secret. */
export class DatabaseFailed extends UpstreamFailed {
  readonly connection: string;
  readonly outcome: Outcome;
  override readonly answered: boolean;
  /** What went wrong, without the name of the connection. */
  readonly detail: string;
  /** Why there was no login, where the plugin can tell. */
  readonly login: LoginFailure | undefined;

  constructor(
    connection: string,
    detail: string,
    outcome: Outcome,
    options: { answered?: boolean; login?: LoginFailure | undefined } = {},
  ) {
    const { answered = outcome === 'refused', login } = options;
    super(`database "${connection}": ${detail}`);
    this.connection = connection;
    this.login = login;
    this.outcome = outcome;
    this.answered = answered;
    this.detail = detail;
  }
}

/** What was asked of the database cannot be: the operator's statements or settings are wrong. Nothing was sent. */
export class DatabaseMisused extends InvalidRequest {
  readonly outcome = 'unsent' as const;
}

/** The session was closed before the call began: another one will do. */
export class SessionGone extends UpstreamFailed {
  override readonly answered = true;
  readonly outcome = 'unsent' as const;
}

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof DatabaseFailed || error instanceof DatabaseMisused || error instanceof SessionGone) return error.outcome;
  // Thrown by the engine itself before a plugin was called.
  if (error instanceof Unavailable || error instanceof InvalidRequest || error instanceof BadRequest) return 'unsent';
  return 'unknown';
}

/** The text of a failure without the name of the connection, for answers that say it in their own words. */
export function detailOf(error: unknown): string {
  if (error instanceof DatabaseFailed) return error.detail;
  return error instanceof Error ? error.message : String(error);
}
