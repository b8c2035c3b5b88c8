import { EngineError, InvalidRequest, UpstreamFailed } from '@strongroom/engine-sdk';
import { LdapError } from './error.ts';
import type { Outcome } from '@strongroom/rotation';

/** The directory failed, or refused. The text is its own, and holds no secret. */
export class DirectoryFailed extends UpstreamFailed {
  readonly outcome: Outcome;

  constructor(message: string, outcome: Outcome, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
  }
}

/** What was asked of the directory cannot be: an account that is not there, a setting that does not fit. Nothing was changed. */
export class DirectoryMisused extends InvalidRequest {}

/** The account is not in the directory, or not where it is looked for. */
export class AccountGone extends DirectoryMisused {}

/** What a failure of a change means for the change. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof DirectoryFailed) return error.outcome;
  if (error instanceof EngineError) return 'unsent';
  if (!(error instanceof LdapError)) return 'unknown';
  if (error.outcomeUnknown) return 'unknown';
  return error.answered ? 'refused' : 'unsent';
}

/** For what `LdapError`s of this work mean to callers; other errors stay as they are. */
export function directoryFailed(error: unknown, outcome = outcomeOf(error)): unknown {
  if (!(error instanceof LdapError)) return error;
  return new DirectoryFailed(error.message, outcome, error);
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
