import { foreignText, UpstreamFailed, type Secrets } from '@strongroom/engine-sdk';

/** S3 answered, and refused. */
class S3Refused extends UpstreamFailed {
  override readonly answered = true;
}

interface S3Failure extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly code?: string;
}

/** Turns what the SDK throws into an error that names S3 and no secret. */
export function s3Error(error: unknown, where: string, secrets: Secrets): UpstreamFailed {
  if (error instanceof UpstreamFailed) return error;
  const { name = 'Error', message = String(error), code, $metadata } = error as S3Failure;
  const status = $metadata?.httpStatusCode;
  const reason = foreignText(message.split('\n', 1)[0] || code || name, secrets);
  if (status === undefined) return new UpstreamFailed(`${where} cannot be reached: ${reason}`, { cause: error });
  const text = `${where} answers ${name === 'Error' ? status : name}: ${reason}`;
  return status < 500 && status !== 408 && status !== 429
    ? new S3Refused(text, { cause: error })
    : new UpstreamFailed(text, { cause: error });
}
