import { foreignText, type Secrets } from '@strongroom/engine-sdk';
import { objectOf, unexpectedAnswer, type ApiServer } from '@strongroom/kubernetes-client';

/** What the API server says of a token. */
export type Review =
  | { readonly result: 'authenticated'; readonly username: string; readonly uid: string; readonly audiences: readonly string[] }
  | { readonly result: 'refused'; readonly reason: string }
  /** It did not accept the token that the review was asked with: 401, or 403 for one that may not ask. */
  | { readonly result: 'asker refused'; readonly status: number; readonly reason: string };

/**
 * Asks whether a token is valid for one of the audiences, with another token, the reviewer's, or with the same.
 * @throws as `ApiServer.call`
 */
export async function reviewToken(
  api: ApiServer,
  token: string,
  audiences: readonly string[],
  bearer: string,
  signal: AbortSignal,
): Promise<Review> {
  const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
  const body = JSON.stringify({ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec });
  const call = { method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', bearer, body } as const;
  const secrets = { token, bearer };
  return api.call(call, signal, secrets, ({ status, body: answer, message }) => {
    if (status === 401 || status === 403) return { result: 'asker refused', status, reason: message };
    // Of a review, only the audiences can be wrong, which may be the token's own.
    if ((status === 400 || status === 422) && audiences.length > 0) return { result: 'refused', reason: `${status}: ${message}` };
    if (status < 200 || status >= 300) throw unexpectedAnswer(status, message);
    const review = objectOf(answer?.['status']);
    if (!review) throw unexpectedAnswer(status, 'the answer has no status of a review');
    return reviewOf(review, secrets);
  });
}

function reviewOf(status: Readonly<Record<string, unknown>>, secrets: Secrets): Review {
  const { authenticated, error, audiences } = status;
  const user = objectOf(status['user']);
  const username = user?.['username'];
  const uid = user?.['uid'];
  if (typeof error === 'string' && error !== '') return { result: 'refused', reason: foreignText(error, secrets) };
  if (authenticated !== true || typeof username !== 'string' || typeof uid !== 'string')
    return { result: 'refused', reason: 'not authenticated' };
  return { result: 'authenticated', username, uid, audiences: [audiences].flat().filter((one) => typeof one === 'string') };
}
