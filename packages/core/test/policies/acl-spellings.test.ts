import { describe, expect, test } from '@jest/globals';
import type { PolicyOperation } from '../../src/policies/capability.ts';
import { aclOf } from './fixture.ts';

const every = '["create","read","update","delete","list"]';
const rule = (path: string, capabilities: string): string => `path "${path}" { capabilities = ${capabilities} }\n`;

/** Whether the policies allow the operation on `d/gh/prod` and on `d/codehost/prod`, which are one thing. */
function allowed(policies: string, operation: PolicyOperation, below = 'prod'): boolean[] {
  const acl = aclOf(policies);
  const paths = [`d/gh/${below}`, `d/codehost/${below}`];
  return paths.map((path) => acl.check({ operation, path, otherSpellings: paths.filter((one) => one !== path) }).allowed);
}

describe('a thing whose path has several spellings', () => {
  test.each(['gh', 'codehost'])('is denied under each where a policy denies it under %s', (type) => {
    const policies = rule('d/*', every) + rule(`d/${type}/prod`, '["deny"]');
    expect(allowed(policies, 'read')).toEqual([false, false]);
    expect(allowed(policies, 'read', 'test')).toEqual([true, true]);
  });

  test.each(['d/gh/*', 'd/codehost/*', 'd/+/prod', 'd/*'])('is allowed under each where %s allows it', (path) => {
    expect(allowed(rule(path, every), 'delete')).toEqual([true, true]);
  });

  test.each(['gh', 'codehost'])('takes what is written for %s over what covers all spellings', (type) => {
    const narrowed = rule('d/*', every) + rule(`d/${type}/prod`, '["read"]');
    expect(allowed(narrowed, 'delete')).toEqual([false, false]);
    expect(allowed(narrowed, 'read')).toEqual([true, true]);
    const widened = rule('d/+/prod', '["read"]') + rule(`d/${type}/*`, '["delete"]');
    expect(allowed(widened, 'delete')).toEqual([true, true]);
  });

  test('needs both where each spelling has a rule of its own', () => {
    const policies = rule('d/gh/*', '["read","delete"]') + rule('d/codehost/prod', '["read"]');
    expect(allowed(policies, 'read')).toEqual([true, true]);
    expect(allowed(policies, 'delete')).toEqual([false, false]);
  });

  test('is refused under each where no rule matches', () => {
    expect(allowed(rule('other/*', every), 'read')).toEqual([false, false]);
  });

  test('is listed by the same rules, written with a closing slash or without', () => {
    for (const path of ['d/gh', 'd/gh/', 'd/+'])
      expect(
        aclOf(rule('d/*', '["read"]') + rule(path, '["list"]')).check({ operation: 'list', path: 'd/codehost/', otherSpellings: ['d/gh/'] })
          .allowed,
      ).toBe(true);
  });

  test('has the same capabilities under each, and an explanation that names the rule that refuses', () => {
    const acl = aclOf(rule('d/*', every) + rule('d/gh/prod', '["read"]'));
    expect(acl.capabilities('d/codehost/prod', ['d/gh/prod'])).toEqual(['read']);
    expect(acl.explain('delete', 'd/codehost/prod', { otherSpellings: ['d/gh/prod'] })).toMatchObject({
      allowed: false,
      missing: 'delete',
      rule: { path: 'd/gh/prod' },
    });
  });

  test('takes the closer limits of both rules', () => {
    const limited = (path: string, more: string): string => `path "${path}" { capabilities = ["list","sudo"]\n ${more} }\n`;
    const acl = aclOf(limited('d/gh/*', 'pagination_limit = 10') + limited('d/codehost/*', 'pagination_limit = 5'));
    expect(acl.check({ operation: 'list', path: 'd/gh/', otherSpellings: ['d/codehost/'] })).toMatchObject({
      allowed: true,
      sudo: true,
      grantingPolicies: ['p1'],
      paginationLimit: 5,
    });
  });
});
