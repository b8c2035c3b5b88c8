import { describe, expect, test } from '@jest/globals';
import { newCall } from '../../src/request/call.ts';
import { withoutHiddenKeys } from '../../src/request/listed-keys.ts';
import { emptyResponse, type CoreResponse } from '../../src/kernel/call/core-response.ts';
import { Acl } from '../../src/services/policies/acl.ts';
import { KeysFilter } from '../../src/services/policies/keys-filter.ts';
import { parsePolicy } from '../../src/services/policies/policy.ts';

const acl = Acl.compile([parsePolicy('p', 'path "a/x" { capabilities = ["read"] }')]);
const filtered = async (answer: Partial<CoreResponse>, filters = [new KeysFilter('a/{{ .key }}')]) => {
  const call = newCall('id', { operation: 'list', path: 'a/' }, 0);
  Object.assign(call, { acl, keysFilters: filters, match: { path: { declaration: { about: { fields: {} } } } } });
  const parts = { mounts: { route: () => undefined }, limit: undefined, next: async () => Promise.reject(new Error('not paged')) };
  return withoutHiddenKeys(call, { ...emptyResponse('id', 200), ...answer }, parts);
};

describe('a filter of keys', () => {
  test('leaves what is a list of keys, and what belongs to them', async () => {
    const { data } = await filtered({ data: { keys: ['x', 'y'], key_info: { x: 1, y: 2 } } });
    expect(data).toEqual({ keys: ['x'], key_info: { x: 1 } });
    expect((await filtered({ data: null })).data).toBeNull();
  });

  test.each<[string, Partial<CoreResponse>]>([
    ['other fields', { data: { keys: ['x'], total: 2 } }],
    ['no keys', { data: { names: ['y'] } }],
    ['a lease', { leaseId: 'l', data: { keys: ['x'] } }],
    ['a body of its own', { raw: { contentType: 'text/plain', body: 'y' } }],
  ])('refuses an answer with %s', async (_what, answer) => {
    await expect(filtered(answer)).rejects.toMatchObject({ status: 403 });
    await expect(filtered(answer, [])).resolves.toMatchObject(answer);
  });

  test('lets other calls go on while it goes through a long list', async () => {
    const keys = Array.from({ length: 5_000 }, (_, at) => `k${at}`);
    let others = 0;
    setImmediate(() => others++);
    await expect(filtered({ data: { keys } })).rejects.toMatchObject({ status: 404 });
    expect(others).toBe(1);
  });
});
