import { expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { asFailure } from '../src/failure.ts';

test('takes out each secret once, the longest first, and not out of what it has put there', () => {
  const error = new Error('no login for e with s.3cret+e');
  expect(asFailure(error, { secrets: ['e', 's.3cret+e', ''] }).reason).toBe(
    'PostgreSQL cannot be reached: no login for [redacted] with [redacted]',
  );
});

test('shows the message of PostgreSQL only where it can quote nothing that may be a password', () => {
  const error = Object.assign(new DatabaseError('no pg_hba.conf entry for user "u;s3cret"', 0, 'error'), { code: '28000' });
  expect(asFailure(error, { unshown: ['user', 'options'] }).reason).toBe(
    'PostgreSQL refuses the login; its message is not shown, because it may quote a password: ' +
      'there are characters other than letters, digits, "_", "." and "-" in the user and the options of the connection URL',
  );
  expect(asFailure(Object.assign(error, { code: '57P03' }), { unshown: ['user'] }).reason).toBe('PostgreSQL is starting up');
});
