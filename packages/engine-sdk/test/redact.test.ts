import { describe, expect, test } from '@jest/globals';
import { redact } from '../src/index.ts';

describe('redact', () => {
  test('replaces secrets by their label, in their escaped forms too', () => {
    const password = `s3cr't/"wörd`;
    const text = `a ${password} b ${encodeURIComponent(password)} c ${JSON.stringify(password)} d ${password.replace("'", "''")} e ${Buffer.from(password).toString('base64')}`;
    expect(redact(text, { password })).toBe('a [password] b [password] c "[password]" d [password] e [password]');
  });

  test('a short secret is masked where it stands alone, and not inside words', () => {
    expect(redact('dial tcp: password p (p)', { password: 'p' })).toBe('dial tcp: password [password] ([password])');
    expect(redact('administrator admin', { password: 'admin' })).toBe('administrator [password]');
    expect(redact('x!!y', { password: '!!' })).toBe('x[password]y');
  });

  test('a long secret is masked inside words, the longest first, and empty ones never', () => {
    expect(redact('xlonglonglongx longlonglong-er', { a: 'longlonglong', b: 'longlonglong-er', c: '', d: undefined })).toBe('x[a]x [b]');
  });
});
