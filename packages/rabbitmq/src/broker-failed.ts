import { EngineError, InvalidRequest, UpstreamFailed } from '@strongroom/engine-sdk';
import type { Outcome } from '@strongroom/rotation';

/** RabbitMQ failed, or refused. The text names it and what was tried, and contains no secret. */
export class BrokerFailed extends UpstreamFailed {
  override readonly answered: boolean;
  /** What the failed call did. */
  readonly outcome: Outcome;

  constructor(message: string, outcome: Outcome, { answered = false, cause }: { answered?: boolean; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    this.answered = answered;
  }
}

/** What was asked of RabbitMQ cannot be, such as the password of a user that does not exist. Nothing was changed. */
export class BrokerMisused extends InvalidRequest {}

/** What a failure of a change means for the change. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof BrokerFailed) return error.outcome;
  return error instanceof EngineError ? 'unsent' : 'unknown';
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
