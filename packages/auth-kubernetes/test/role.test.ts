import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { appRole, forStrongroom, mounted, type MountedKubernetes } from './mounted.ts';

let mount: MountedKubernetes;
beforeAll(async () => (mount = await mounted()));
afterAll(async () => mount.stop());
beforeEach(async () => void (await mount.delete('role/app')));

const write = async (data: Record<string, unknown>) => mount.call('update', 'auth/kubernetes/role/app', { data });
const role = async () => (await mount.read('role/app')).data as Record<string, unknown>;

describe('a role', () => {
  test('has one name, whatever its case, and is listed by it', async () => {
    await mount.write('role/App', appRole);
    expect((await mount.read('role/APP')).data).toMatchObject({ audience: 'strongroom' });
    expect((await mount.list('role')).data).toEqual({ keys: ['app'] });
  });

  test('keeps what an update leaves out, except its selector', async () => {
    const selector = '{"matchLabels":{"team":"red"}}';
    await write({ ...appRole, bound_service_account_namespace_selector: selector, alias_name_source: 'serviceaccount_name' });
    expect(await role()).toMatchObject({ bound_service_account_namespace_selector: selector });
    await write({ token_ttl: '5m' });
    expect(await role()).toMatchObject({
      ...appRole,
      bound_service_account_names: ['app'],
      bound_service_account_namespaces: ['default'],
      bound_service_account_namespace_selector: '',
      alias_name_source: 'serviceaccount_name',
      token_policies: ['app'],
      token_ttl: 300,
    });
  });

  test('shows its audience only where it has one, and warns where it has none', async () => {
    const { warnings } = await write({ ...appRole, audience: '' });
    expect(warnings!.join()).toContain('audience');
    expect(await role()).not.toHaveProperty('audience');
    expect((await write({ audience: 'strongroom' })).status).toBe(204);
  });

  test('takes the earlier names of its parameters, and shows them', async () => {
    await write({
      ...appRole,
      token_policies: undefined,
      policies: 'B,a',
      ttl: '1m',
      max_ttl: '2m',
      num_uses: 3,
      bound_cidrs: '127.0.0.1/32',
    });
    expect(await role()).toMatchObject({ policies: ['a', 'b'], token_policies: ['a', 'b'], ttl: 60, token_max_ttl: 120, num_uses: 3 });
  });

  const wrong: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ bound_service_account_names: '' }, /"bound_service_account_names" can not be empty/],
    [{ bound_service_account_namespaces: '' }, /"bound_service_account_namespaces" can not be empty/],
    [{ bound_service_account_names: 'a,*' }, /can not mix "\*" with values/],
    [{ bound_service_account_namespaces: ['*', 'b'] }, /can not mix "\*" with values/],
    [{ alias_name_source: 'name' }, /alias_name_source/],
    [{ token_policies: 'Root' }, /token_policies.*root/],
    [{ token_ttl: '2h', token_max_ttl: '1h' }, /'token_ttl' cannot be greater/],
    [{ bound_service_account_namespace_selector: '- a' }, /selector/],
    [{ bound_service_account_namespace_selector: '{}' }, /has no requirements/],
    [{ bound_service_account_namespace_selector: 'matchLabel: {a: b}' }, /matchLabel is neither/],
    [{ bound_service_account_namespace_selector: 'matchLabels: {a: 1}' }, /label a is not a text/],
    [{ bound_service_account_namespace_selector: 'matchLabels: [a]' }, /matchLabels/],
    [{ bound_service_account_namespace_selector: 'matchExpressions: [{key: a, operator: Near}]' }, /operator of a/],
    [{ bound_service_account_namespace_selector: 'matchExpressions: [{key: a, operator: In}]' }, /In of a needs values/],
    [
      { bound_service_account_namespace_selector: 'matchExpressions: [{key: a, operator: Exists, values: [b]}]' },
      /Exists of a takes no values/,
    ],
    [{ bound_service_account_namespace_selector: 'a: &a [x]\nmatchLabels: *a' }, /selector/],
    [{ bound_service_account_namespace_selector: `matchLabels: {a: ${'b'.repeat(20_000)}}` }, /longer/],
  ];
  for (const [data, text] of wrong) {
    test(`is refused with ${JSON.stringify(data).slice(0, 100)}`, async () => {
      expect(await write({ ...appRole, ...data })).toMatchObject({ status: 400, errors: [expect.stringMatching(text)] });
    });
  }
});

describe('a renewal', () => {
  test('takes the lifetimes of the role as they are now, and asks no API server', async () => {
    await write({ ...appRole, token_ttl: '10m' });
    const { auth } = await mount.login('app', mount.api.issue(forStrongroom));
    await write({ token_ttl: '20m', token_policies: 'other' });
    mount.api.deleteAccount('default', 'app');
    const before = mount.api.requests.length;
    expect((await mount.renew(auth!.client_token)).auth).toMatchObject({ lease_duration: 1_200, policies: ['app', 'default'] });
    expect(mount.api.requests).toHaveLength(before);
  });

  test('is refused once the role is gone', async () => {
    await write(appRole);
    const { auth } = await mount.login('app', mount.api.issue(forStrongroom));
    await mount.delete('role/app');
    expect(await mount.renew(auth!.client_token)).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('failed to renew entry: role app does not exist during renewal')],
    });
  });
});
