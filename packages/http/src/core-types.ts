import type { CoreRequest, CoreResponse, CorsConfig } from '@strongroom/core';

export type { CoreRequest, CoreResponse };
/** What is to be done with a request of a page of another origin. */
export type CorsDecision = ReturnType<CorsConfig['decide']>;

/** What this package needs of a core. */
export interface CoreHandler {
  /** Never rejects: what went wrong is in the answer. */
  handle(request: CoreRequest): Promise<CoreResponse>;
  /**
   * Whether this is a token that exists now, and is good at the address. Nothing of it is used up. Without this, every caller has the limits of those who
   * are not known.
   */
  recognizes?(token: string, remoteAddress: string): Promise<boolean>;
  /** Whether no token can be recognized now: what only a known caller may send is then refused for a while, and not for good. */
  readonly sealed?: boolean;
  /** Whether a write to the path takes its body as it comes, as `CoreRequest.body`. Without this, no path does. */
  streamsBody?(path: string): boolean;
  readonly cors?: CorsPolicy;
}

/** Which pages of other origins may call the API. */
export interface CorsPolicy {
  /** Asked for each request that has an `Origin`. */
  decide(method: string, origin: string | undefined, preflightFor?: string): CorsDecision;
}
