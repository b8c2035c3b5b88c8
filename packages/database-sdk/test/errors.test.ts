import { describe, expect, test } from '@jest/globals';
import { ConnectionLost, DatabaseError, isDatabaseError, safeNamePart, StatementFailed, VerificationFailed } from '../src/index.ts';

describe('errors', () => {
  test('are distinguished by code, and carry the texts that operators know', () => {
    const failed = new StatementFailed('ERROR: syntax error', { serverCode: '42601' });
    expect(failed).toMatchObject({
      name: 'StatementFailed',
      code: 'statement_failed',
      serverCode: '42601',
      message: 'failed to execute query: ERROR: syntax error',
    });
    expect(new VerificationFailed('no route').message).toBe('error verifying connection: no route');
    expect(isDatabaseError(failed)).toBe(true);
    expect(isDatabaseError(failed, 'connection_lost')).toBe(false);
    expect(isDatabaseError(Object.assign(new Error('x'), { code: 'connection_lost' }), 'connection_lost')).toBe(true);
    expect(isDatabaseError(Object.assign(new Error('x'), { code: 'ECONNRESET' }))).toBe(false);
    expect(new ConnectionLost('gone')).toBeInstanceOf(DatabaseError);
  });
});

describe('safeNamePart', () => {
  test('keeps letters, digits and harmless marks, and replaces the rest', () => {
    expect(safeNamePart('ldap-bob_1.x@y')).toBe('ldap-bob_1.x@y');
    expect(safeNamePart(`o'"; \\b--`)).toBe('o-b--');
    expect(safeNamePart('Jürgen 山')).toBe('Jürgen-山');
  });
});
