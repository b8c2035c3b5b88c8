import { expect, test } from '@jest/globals';
import { ApiError } from '../web/api/api-error.ts';
import { isUnknownToken } from '../web/api/refused-token.ts';

const refusal = (status: number, ...errors: string[]): ApiError => new ApiError({ status, errors, method: 'GET', path: 'a' });

test.each([
  [true, refusal(403, 'permission denied')],
  [true, refusal(403, '2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n')],
  [false, refusal(403, '1 error occurred:\n\t* permission denied\n\n')],
  [false, refusal(403)],
  [false, refusal(503, 'permission denied')],
])('%p: the token is unknown to a server that says so, not to one that refuses the call', (unknown, error) => {
  expect(isUnknownToken(error)).toBe(unknown);
});
