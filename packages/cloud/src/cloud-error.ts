import { BadRequest, EngineError, InternalError, UpstreamFailed, UpstreamLimited } from '@strongroom/engine-sdk';
import type { Outcome } from '@strongroom/rotation';

/** What is known of a call that failed. */
export interface CloudFault {
  /** The provider's title. */
  readonly provider: string;
  /** The provider's own code; '' where there is none, as when it was not reached. */
  readonly code: string;
  readonly text: string;
  /** The provider's id of the request; '' where it gave none. */
  readonly requestId: string;
  readonly outcome: Outcome;
  /** Seconds after which the provider wants to be asked again. */
  readonly retryAfter?: number;
}

/** The provider said no to what it was asked for: a policy that does not parse, a role that may not be assumed. */
export class CloudRefused extends BadRequest {
  readonly fault: CloudFault;
  constructor(fault: CloudFault, during = '') {
    super(textOf(fault, during));
    this.fault = fault;
  }
}

/** The provider failed, was not reached, or does not know the root credential. */
export class CloudFailed extends UpstreamFailed {
  readonly fault: CloudFault;
  constructor(fault: CloudFault, during = '') {
    super(textOf(fault, during));
    this.fault = fault;
  }
}

/** The Retry-After of an answer where the provider gives none. Seconds. */
const PAUSE = 5;

/** The provider is asked too often, by us or by others of the same account. */
export class CloudThrottled extends UpstreamLimited {
  readonly fault: CloudFault;
  constructor(fault: CloudFault, during = '') {
    super(textOf(fault, during), { headers: { 'Retry-After': String(Math.max(1, Math.ceil(fault.retryAfter ?? PAUSE))) } });
    this.fault = fault;
  }
}

export type CloudError = CloudRefused | CloudFailed | CloudThrottled;

export function isCloudError(error: unknown): error is CloudError {
  return error instanceof CloudRefused || error instanceof CloudFailed || error instanceof CloudThrottled;
}

/** What became of a change whose call threw this. */
export function outcomeOf(error: unknown): Outcome {
  if (isCloudError(error)) return error.fault.outcome;
  // Ours, thrown before anything was sent.
  if (error instanceof EngineError && !(error instanceof InternalError) && !(error instanceof UpstreamFailed)) return 'unsent';
  return 'unknown';
}

/** Awaits a call, and says in its failure what was being done. */
export async function during<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CloudRefused) throw new CloudRefused(error.fault, what);
    if (error instanceof CloudThrottled) throw new CloudThrottled(error.fault, what);
    if (error instanceof CloudFailed) throw new CloudFailed(error.fault, what);
    throw error;
  }
}

function textOf({ provider, code, text, requestId }: CloudFault, during: string): string {
  const parts = [...(during === '' ? [] : [during]), provider, ...(code === '' ? [] : [code]), text];
  return `${parts.join(': ')}${requestId === '' ? '' : ` (request ${requestId})`}`;
}
