import { describe, expect, test } from '@jest/globals';
import { compactPolicy, mergePolicies } from '../src/policy-document.ts';

describe('policy documents', () => {
  test('compactPolicy takes out the space between the parts and nothing else', () => {
    expect(compactPolicy(' { "a b" : [ 1.0 , 12345678901234567890 , "\\" \\\\" ] ,\n"2":1, "1":2 } ')).toBe(
      '{"a b":[1.0,12345678901234567890,"\\" \\\\"],"2":1,"1":2}',
    );
  });

  test('mergePolicies leaves a single document as it is', () => {
    expect(mergePolicies(['', '{"Version":"2008-10-17","Statement":[]}'])).toBe('{"Version":"2008-10-17","Statement":[]}');
    expect(mergePolicies([])).toBe('');
  });

  test('mergePolicies does not leave out what it cannot read, which could be what denies', () => {
    expect(() => mergePolicies(['{"Statement":[]}', '%7B"Statement"'])).toThrow(
      'a policy of a group is no JSON object, and cannot be combined with others',
    );
  });

  test('mergePolicies makes one list of the statements, with each Sid once', () => {
    const document = (...statements: unknown[]) => JSON.stringify({ Version: '2012-10-17', Statement: statements });
    const one = JSON.stringify({ Statement: { Sid: 'a', Effect: 'Deny' } });
    expect(JSON.parse(mergePolicies([document({ Sid: 'a', Effect: 'Allow' }, { Effect: 'Allow' }), one]))).toEqual({
      Version: '2012-10-17',
      Statement: [{ Sid: 'a', Effect: 'Allow' }, { Effect: 'Allow' }, { Effect: 'Deny' }],
    });
  });
});
