import { describe, expect, jest, test } from '@jest/globals';
import {
  abortable,
  ConnectionLost,
  DatabaseError,
  isDatabaseError,
  safeNamePart,
  StatementFailed,
  VerificationFailed,
} from '../src/index.ts';

describe('abortable', () => {
  test('hands on the result of the work', async () => {
    expect(await abortable(new AbortController().signal, Promise.resolve(1))).toBe(1);
    await expect(abortable(new AbortController().signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  test('rejects at once when the signal is aborted, before or during the work', async () => {
    const controller = new AbortController();
    const onAbort = jest.fn();
    const waiting = abortable(controller.signal, new Promise(() => undefined), onAbort);
    controller.abort(new Error('deadline'));
    await expect(waiting).rejects.toThrow('deadline');
    await expect(abortable(controller.signal, Promise.reject(new Error('later')), onAbort)).rejects.toThrow('deadline');
    expect(onAbort).toHaveBeenCalledTimes(2);
  });
});

describe('errors', () => {
  test('are told apart by code, and carry the texts that operators know', () => {
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
