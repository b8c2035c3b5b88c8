import { UpstreamFailed } from '@strongroom/engine-sdk';
import { ApiServerFailed } from '@strongroom/kubernetes-client';
import type { Cluster } from './clusters.ts';
import { loginRefused } from './failures.ts';
import type { PresentedToken } from './presented-token.ts';
import { userNameOf } from './service-account.ts';
import { reviewToken, type Review } from './token-review.ts';
import type { Facts, Trace } from './trace.ts';

/**
 * Has the API server review the token, for the audience of the role or else for those of the token itself.
 * @throws TokenRefused if the token is not valid for it, UpstreamFailed or Unavailable if the API server does not say
 */
export async function review(cluster: Cluster, token: PresentedToken, audience: string, trace: Trace, signal: AbortSignal): Promise<void> {
  const { account, jwt } = token;
  const wanted = audience === '' ? token.audiences : [audience];
  const since = trace.start();
  const facts = {
    url: cluster.config.kubernetes_host,
    service_account: `${account.namespace}/${account.name}`,
    audiences: wanted,
    reviewer: askerOf(cluster),
  };
  const reviewed = await reviewToken(cluster.api, jwt, wanted, cluster.reviewer ?? jwt, signal).catch((error: unknown) => {
    throw faultOf(error, (reason, answer) => trace.failed('token review', since, facts, reason, answer));
  });
  const problem = problemOf(reviewed, token, audience);
  if (problem === undefined) return trace.passed('token review', since, facts);
  const faulty = reviewed.result === 'asker refused' && cluster.reviewer !== undefined;
  throw trace.failed('token review', since, facts, problem, faulty ? reviewerRefused(problem) : loginRefused());
}

/** Who asks for reviews. */
export function askerOf({ config, reviewer }: Cluster): NonNullable<Facts['reviewer']> {
  if (reviewer === undefined) return 'the caller';
  return config.token_reviewer_jwt === '' ? 'pod' : 'token_reviewer_jwt';
}

/** The API server accepts no questions from the reviewer: nobody logs in until the operator corrects that. */
export function reviewerRefused(reason: string): ApiServerFailed {
  return new ApiServerFailed('refuses the token reviewer', reason, { answered: true });
}

/** A failure of the API server is noted with its cause; anything else, such as the end of the request, is thrown on. */
export function faultOf(error: unknown, note: (reason: unknown, answer: UpstreamFailed) => unknown): unknown {
  return error instanceof UpstreamFailed ? note(error.cause ?? error, error) : error;
}

/** In the operator's words; undefined if the review is good. */
function problemOf(reviewed: Review, { account, audiences }: PresentedToken, audience: string): string | undefined {
  switch (reviewed.result) {
    case 'asker refused':
      return `the API server refuses to review for this token: ${reviewed.status}: ${reviewed.reason}`;
    case 'refused':
      return audience === '' || audiences.includes(audience)
        ? `the API server refuses the token: ${reviewed.reason}`
        : `the token is not for the audience ${audience} but for ${audiences.join(', ')}: ${reviewed.reason}`;
    case 'authenticated': {
      const wanted = audience === '' ? audiences : [audience];
      if (wanted.length > 0 && !reviewed.audiences.some((one) => wanted.includes(one))) {
        return `the review is good for other audiences than ${wanted.join(', ')}: the API server knows no audiences, or another token was reviewed`;
      }
      const same = reviewed.username === userNameOf(account) && reviewed.uid === account.uid;
      return same ? undefined : `the token names ${userNameOf(account)}, the review ${reviewed.username} or another uid`;
    }
  }
}
