import { expect, test } from '@jest/globals';
import { asFailure } from '../src/failure.ts';

test('takes out each secret once, the longest first, and not out of what it has put there', () => {
  const error = new Error('no login for e with s.3cret+e');
  expect(asFailure(error, { secrets: ['e', 's.3cret+e', ''] }).reason).toBe(
    'PostgreSQL cannot be reached: no login for [redacted] with [redacted]',
  );
});
