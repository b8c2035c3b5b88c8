import { describe, expect, test } from '@jest/globals';
import { defaultRoleTokens, mergeRoleTokens, requireAddress, roleTokenData, termsFor } from '../src/index.ts';

const write = (data: Record<string, unknown>, stored = defaultRoleTokens) => mergeRoleTokens(stored, data, new Set(Object.keys(data)));

describe('the parameters of tokens of a role', () => {
  test('a write changes only what it contains', () => {
    const first = write({ token_ttl: 60, token_policies: ['dev'] });
    expect(write({ token_ttl: 90 }, first)).toMatchObject({ token_ttl: 90, token_policies: ['dev'] });
  });

  test('an old name sets its parameter, and a read shows both', () => {
    const stored = write({ policies: ['old'], ttl: 300, bound_cidrs: ['127.0.0.1/32'] });
    expect(roleTokenData(stored)).toMatchObject({
      policies: ['old'],
      token_policies: ['old'],
      ttl: 300,
      token_ttl: 300,
      bound_cidrs: ['127.0.0.1'],
      token_bound_cidrs: ['127.0.0.1'],
    });
  });

  test('with both names the current one decides, and both are shown', () => {
    expect(roleTokenData(write({ ttl: 1, token_ttl: 2 }))).toMatchObject({ ttl: 2, token_ttl: 2 });
  });

  test('the current name alone ends the old one', () => {
    const data = roleTokenData(write({ token_ttl: 2 }, write({ ttl: 1 })));
    expect(data['token_ttl']).toBe(2);
    expect(data).not.toHaveProperty('ttl');
  });

  test.each([
    [{ token_ttl: 2, token_max_ttl: 1 }, "'token_ttl' cannot be greater than 'token_max_ttl'"],
    [{ token_type: 'odd' }, `invalid 'token_type' value "odd"`],
    [{ token_type: 'default-service' }, `invalid 'token_type' value "default-service"`],
    [{ token_type: 'batch', token_period: 1 }, "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens"],
    [
      { token_strictly_bind_ip: true, token_bound_cidrs: ['::1'] },
      "'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one",
    ],
    [{ token_bound_cidrs: ['zz'] }, `field 'token_bound_cidrs': "zz" is not an address or CIDR block`],
    [
      { token_policies: ['Root '] },
      'token_policies: no login can give the policy "root"; write a policy of your own with the paths that are needed',
    ],
    [{ policies: ['root'] }, 'policies: no login can give the policy "root"; write a policy of your own with the paths that are needed'],
  ])('%j is refused by name', (data, text) => {
    expect(() => write(data)).toThrow(text);
  });

  test('policies are lower-cased and trimmed, each once', () => {
    expect(write({ token_policies: ['Ops', ' dev', 'ops', ''] }).token_policies).toEqual(['dev', 'ops']);
  });

  test('a login from another address is refused', () => {
    const tokens = write({ token_bound_cidrs: ['10.0.0.0/8'] });
    expect(() => requireAddress(tokens, '10.9.9.9')).not.toThrow();
    expect(() => requireAddress(tokens, '11.0.0.1')).toThrow('permission denied');
  });

  test('token_strictly_bind_ip binds the token to the address of the login', () => {
    expect(termsFor(write({ token_strictly_bind_ip: true }), '10.0.0.1').boundCidrs).toEqual(['10.0.0.1']);
  });
});
