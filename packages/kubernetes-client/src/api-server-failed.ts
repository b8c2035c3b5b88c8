import { UpstreamFailed } from '@strongroom/engine-sdk';

/** The API server did not do its part. Says neither its address nor what it answered; the cause is for the log. */
export class ApiServerFailed extends UpstreamFailed {
  override readonly answered: boolean;

  constructor(text: string, cause: unknown, { answered = false } = {}) {
    super(`the Kubernetes API server ${text}`, { cause });
    this.answered = answered;
  }
}

/** What went wrong below an error of `fetch` or a socket, in one line, for the log. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  const text = error.message === '' ? error.name : error.message;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
}
