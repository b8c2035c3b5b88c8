import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import { PolicyStore } from '../../../src/services/policies/policy-store.ts';
import { policyPaths } from '../../../src/api/sys/path-policies.ts';
import { call as callPath, type Answer } from './call.ts';
import { manualClock } from './fixture.ts';

const text = 'path "wkv/data/app/*" { capabilities=["read","create"] }';

let call: (operation: Parameters<typeof callPath>[1], path: string, body?: Record<string, unknown>) => Promise<Answer>;

beforeEach(async () => {
  const policies = new PolicyStore({ storage: new MemoryView(), clock: manualClock() });
  await policies.initialize();
  const paths = policyPaths({ policies });
  call = (operation, path, body) => callPath(paths, operation, path, body);
});

const flags = { allow_slashes_in_identity_templates: false, allow_wildcards_in_identity_templates: false, cas_required: false };

describe('policies/acl', () => {
  test('a policy is written, read, listed and deleted', async () => {
    expect(await call('update', 'policies/acl/wdev', { policy: text })).toMatchObject({ status: 204 });
    expect(await call('read', 'policies/acl/wdev')).toMatchObject({
      status: 200,
      data: { ...flags, modified: '2030-01-01T00:00:00.000Z', name: 'wdev', policy: text, version: 1 },
    });
    expect((await call('list', 'policies/acl/')).data).toEqual({ keys: ['default', 'wdev', 'root'] });
    expect(await call('delete', 'policies/acl/wdev')).toMatchObject({ status: 204 });
    expect(await call('read', 'policies/acl/wdev')).toEqual({ status: 404, errors: [] });
    expect(await call('delete', 'policies/acl/wdev')).toMatchObject({ status: 204 });
    expect(await call('read', 'policies/acl')).toMatchObject({ status: 405 });
  });

  test('an upper-case name is converted, with a warning', async () => {
    expect(await call('update', 'policies/acl/FOO', { policy: text })).toMatchObject({
      status: 200,
      warnings: ['policy name was converted to foo'],
    });
    expect((await call('read', 'policies/acl/Foo')).data).toMatchObject({ name: 'foo' });
  });

  test.each([
    ['update', 'policies/acl/x', {}, `'policy' parameter not supplied or empty`],
    [
      'update',
      'policies/acl/x',
      { policy: 'path "x" { capabilities=["fly"] }' },
      'failed to parse policy: path "x": invalid capability "fly"',
    ],
    ['update', 'policies/acl/root', { policy: text }, 'cannot update "root" policy'],
    ['delete', 'policies/acl/root', {}, 'cannot delete "root" policy'],
    ['delete', 'policies/acl/default', {}, 'cannot delete default policy'],
  ] as const)('%s %s is refused', async (operation, path, body, message) => {
    expect(await call(operation, path, body)).toEqual({ status: 400, errors: [message] });
  });

  test('root reads as an empty policy', async () => {
    expect((await call('read', 'policies/acl/root')).data).toMatchObject({ name: 'root', policy: '' });
  });

  test('a patch needs an existing policy', async () => {
    expect(await call('patch', 'policies/acl/x', { cas_required: true })).toEqual({ status: 404, errors: [] });
    await call('update', 'policies/acl/x', { policy: text });
    expect(await call('patch', 'policies/acl/x', { ttl: '1h' })).toMatchObject({ status: 204 });
    expect((await call('read', 'policies/acl/x')).data).toMatchObject({ policy: text, version: 2, expiration: '2030-01-01T01:00:00.000Z' });
  });

  test('lists come in pages, with root at the end', async () => {
    await call('update', 'policies/acl/a', { policy: text });
    expect((await call('list', 'policies/acl/', { limit: 2 })).data).toEqual({ keys: ['a', 'default'] });
    expect((await call('list', 'policies/acl/', { after: 'a' })).data).toEqual({ keys: ['default', 'root'] });
    expect((await call('list', 'policies/acl/', { after: 'root' })).data).toEqual({ keys: [] });
  });

  test('names may have slashes, and a prefix lists those below it', async () => {
    await call('update', 'policies/acl/team/red', { policy: text });
    expect((await call('read', 'policies/acl/team/red')).data).toMatchObject({ name: 'team/red' });
    expect((await call('list', 'policies/acl/')).data).toEqual({ keys: ['default', 'team/red', 'root'] });
    expect((await call('list', 'policies/acl/team/')).data).toEqual({ keys: ['red'] });
    expect((await call('list', 'policies/detailed/acl/team')).data).toMatchObject({ keys: ['red'], key_info: { red: { policy: text } } });
  });

  test('the detailed list has what a read has', async () => {
    const { data } = await call('list', 'policies/detailed/acl/');
    expect(data).toMatchObject({ keys: ['default', 'root'], key_info: { default: { version: 1, ...flags }, root: { policy: '' } } });
  });
});

describe('the older policy', () => {
  test('reads and lists in its own words', async () => {
    expect(await call('update', 'policy/wdev', { policy: text })).toMatchObject({ status: 204 });
    const { data } = await call('read', 'policy/wdev');
    expect(data).toEqual({ ...flags, modified: '2030-01-01T00:00:00.000Z', name: 'wdev', rules: text, version: 1 });
    const keys = ['default', 'wdev', 'root'];
    expect((await call('read', 'policy')).data).toEqual({ keys, policies: keys });
    expect((await call('list', 'policy/')).data).toEqual({ keys, policies: keys });
    expect(await call('read', 'policy/none')).toEqual({ status: 404, errors: [] });
  });

  test('takes the text as rules, with a warning', async () => {
    const answer = await call('update', 'policy/wdev', { rules: text });
    expect(answer.status).toBe(200);
    expect(answer.warnings).toHaveLength(1);
    expect((await call('read', 'policies/acl/wdev')).data).toMatchObject({ policy: text });
    expect(await call('update', 'policy/wdev')).toEqual({ status: 400, errors: [`'policy' parameter not supplied or empty`] });
  });
});
