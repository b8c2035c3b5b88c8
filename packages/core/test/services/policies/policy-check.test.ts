import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkPolicy } from '../../../src/services/policies/policy-check.ts';
import { parsePolicy } from '../../../src/services/policies/policy.ts';

/** `severity line:column message`, one a complaint. */
const complaints = (text: string): string[] =>
  checkPolicy(text).complaints.map(({ severity, line, column, message }) => `${severity} ${line}:${column} ${message}`);

describe('the check of a policy', () => {
  test('finds nothing in a good one', () => {
    expect(checkPolicy('path "a/*" {\n  capabilities = ["read"]\n}')).toEqual({ valid: true, complaints: [] });
    expect(checkPolicy('{"path": {"a/*": {"capabilities": ["read"]}}}')).toEqual({ valid: true, complaints: [] });
  });

  test('tells where the text cannot be parsed', () => {
    expect(complaints('path "a" {\n  capabilities = ["read"\n}')).toEqual([
      'error 3:1 error parsing list, expected comma or list end, got: RBRACE',
    ]);
    expect(complaints('{"path": {\n "a": }}')).toEqual(['error 2:7 expected a value']);
  });

  test('tells all faults of all blocks, each where it stands', () => {
    const text = `path "a" {
  capabilities = ["read", "raed"]
}
path "b" {
  capabilites = ["read"]
  color = "red"
}
path "c" {
  min_wrapping_ttl = "soon"
}
owner = "me"
`;
    expect(complaints(text)).toEqual([
      'error 2:27 path "a": invalid capability "raed"',
      'error 5:3 path "b": invalid key "capabilites" on line 5',
      'error 6:3 path "b": invalid key "color" on line 6',
      expect.stringMatching(/^error 9:22 path "c": error parsing min_wrapping_ttl: /),
      'error 11:1 invalid key "owner" on line 11',
    ]);
  });

  test('tells the faults of JSON where they stand', () => {
    const text = '{\n  "path": {\n    "a": {\n      "capabilities": ["read",\n        "raed"]\n    },\n    "b": { "colour": 1 }\n  }\n}';
    expect(complaints(text)).toEqual([
      'error 5:9 path "a": invalid capability "raed"',
      'error 7:12 path "b": invalid key "colour" on line 0',
    ]);
  });

  test('tells positions in the decoded text', () => {
    const text = Buffer.from('path "abc" {\n  capabilities = ["fly"]\n}  \n').toString('base64');
    expect(complaints(text)).toEqual(['error 2:19 path "abc": invalid capability "fly"']);
  });

  test('warns of what has no effect, and hints at what may not be meant', () => {
    const text = `path "secret/*/x" { capabilities = ["read"] }
path "a//b" { capabilities = ["read"] }
path "c" {
  capabilities = ["read"]
  mfa_methods = ["x"]
}
path "c" { capabilities = [] }`;
    const { valid } = checkPolicy(text);
    expect(valid).toBe(true);
    expect(complaints(text)).toEqual([
      'info 1:1 path "secret/*/x": a * stands for itself except at the end; + stands for one segment',
      'warning 2:1 path "a//b": no request has an empty segment, so this block never applies',
      'warning 5:17 path "c": this server does not support mfa_methods, so that this block denies its path',
      'info 7:1 path "c": line 3 has a block for the same path: both count together',
      'info 7:1 path "c": this block grants no capability',
    ]);
  });

  test('is valid exactly where a write would accept the text', () => {
    const word = fc.constantFrom('path', '"a"', '{', '}', '=', '[', ']', '"read"', 'capabilities', ',', '\n', 'policy', '"b/+*"', ':');
    const text = fc.oneof(
      fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
      fc.array(word, { maxLength: 8 }).map((words) => `path "x" { capabilities = ["read"] }\n${words.join(' ')}`),
      fc.json({ maxDepth: 4 }).map((json) => `{"path": ${json}}`),
    );
    const accepted = (policy: string): boolean => {
      try {
        parsePolicy('p', policy);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(text, (policy) => {
        const { valid, complaints: found } = checkPolicy(policy);
        expect(valid).toBe(accepted(policy));
        expect(found.some(({ severity }) => severity === 'error')).toBe(!valid);
        const lines = policy.split('\n').length;
        for (const { line, column } of found) {
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(lines);
          expect(column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
