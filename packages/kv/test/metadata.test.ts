import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

const START = '2030-01-01T00:00:00.000Z';

let mount: TestMount;
beforeEach(async () => {
  mount = await mountForTest(kvEngine, { options: { version: '2' } });
});
afterEach(async () => mount.close());

const write = async (id: string, data: Record<string, unknown> = {}) => mount.write(`data/${id}`, { data });
const metadata = async (id: string) => (await mount.read(`metadata/${id}`)).data as Record<string, unknown>;
const refused = async (body: Record<string, unknown>, operation: 'update' | 'patch' = 'update') => {
  const answer = await mount.call(operation, 'kv/metadata/a', { data: body });
  expect(answer.status).toBe(400);
  return answer.errors?.[0];
};

describe('the metadata of a secret', () => {
  test('show its versions and settings', async () => {
    await write('app/db');
    await mount.advance(1);
    await write('app/db');
    expect(await metadata('app/db')).toEqual({
      cas_required: false,
      created_time: START,
      current_metadata_version: 0,
      current_version: 2,
      custom_metadata: null,
      delete_version_after: '0s',
      max_versions: 0,
      metadata_cas_required: false,
      oldest_version: 0,
      updated_time: '2030-01-01T00:00:01.000Z',
      versions: {
        '1': { created_time: START, deletion_time: '', destroyed: false },
        '2': { created_time: '2030-01-01T00:00:01.000Z', deletion_time: '', destroyed: false },
      },
    });
    expect(await mount.call('read', 'kv/metadata/none')).toMatchObject({ status: 404, errors: [] });
  });

  test('can be written before there is data', async () => {
    const answer = await mount.write('metadata/a', { max_versions: 5, delete_version_after: '90m', custom_metadata: { owner: 'x' } });
    expect(answer.status).toBe(204);
    expect(await metadata('a')).toMatchObject({
      max_versions: 5,
      delete_version_after: '1h30m0s',
      custom_metadata: { owner: 'x' },
      current_version: 0,
      current_metadata_version: 1,
      versions: {},
    });
    expect(await mount.call('read', 'kv/data/a')).toMatchObject({ status: 404, errors: [] });
    expect((await write('a')).data).toMatchObject({ version: 1, custom_metadata: { owner: 'x' } });
  });

  test('change only as sent', async () => {
    await mount.write('metadata/a', { max_versions: 5, cas_required: true });
    await mount.write('metadata/a', { cas_required: 'false' });
    expect(await metadata('a')).toMatchObject({ max_versions: 5, cas_required: false, current_metadata_version: 2 });
    await mount.write('metadata/a', { unknown: 1 });
    expect((await mount.call('read', 'kv/metadata/b')).status).toBe(404);
    await mount.write('metadata/b', {});
    expect((await mount.call('read', 'kv/metadata/b')).status).toBe(404);
  });

  test('warn where the mount overrules them', async () => {
    await mount.write('config', { cas_required: true, metadata_cas_required: true });
    const { warnings, status } = await mount.write('metadata/a', { cas_required: false, metadata_cas_required: false, metadata_cas: 0 });
    expect(status).toBe(200);
    expect(warnings).toEqual([
      '"cas_required" set to false, but is mandated by backend config. This value will be ignored.',
      '"metadata_cas_required" set to false, but is mandated by backend config. This value will be ignored.',
    ]);
  });

  test('refuse what is out of range', async () => {
    expect(await refused({ max_versions: -1 })).toMatch(/max_versions/);
    expect(await refused({ delete_version_after: '-5s' })).toMatch(/delete_version_after/);
    expect(await refused({ custom_metadata: 'x' })).toMatch(/custom_metadata/);
  });
});

describe('metadata_cas', () => {
  test('names the metadata version that a write replaces', async () => {
    expect(await refused({ max_versions: 1, metadata_cas: 1 })).toBe('metadata_cas must be 0 when creating new metadata');
    await mount.write('metadata/a', { max_versions: 1, metadata_cas: 0 });
    expect(await refused({ max_versions: 2, metadata_cas: 0 })).toBe('metadata check-and-set parameter does not match the current version');
    expect(await refused({ max_versions: 2, metadata_cas: 0 }, 'patch')).toBe(
      'metadata check-and-set parameter does not match the current version',
    );
    await mount.write('metadata/a', { max_versions: 2, metadata_cas: 1 });
    expect(await metadata('a')).toMatchObject({ max_versions: 2, current_metadata_version: 2 });
  });

  test('counts no writes of data', async () => {
    await write('a');
    await write('a');
    await mount.write('metadata/a', { max_versions: 2, metadata_cas: 0 });
    expect(await metadata('a')).toMatchObject({ current_metadata_version: 1 });
  });

  test('can be required by the mount or the secret', async () => {
    const required = 'metadata check-and-set parameter required for this call';
    await mount.write('metadata/a', { metadata_cas_required: true });
    expect(await refused({ max_versions: 2 })).toBe(required);
    expect(await refused({ max_versions: 2 }, 'patch')).toBe(required);
    await mount.write('metadata/a', { metadata_cas_required: false, metadata_cas: 1 });
    await mount.write('config', { metadata_cas_required: true });
    expect(await refused({ max_versions: 2 })).toBe(required);
  });
});

describe('custom_metadata', () => {
  const prefix = 'custom_metadata validation failed';

  test('turns numbers and booleans into texts', async () => {
    await mount.write('metadata/a', { custom_metadata: { n: 7, b: true, s: 's' } });
    expect(await metadata('a')).toMatchObject({ custom_metadata: { n: '7', b: '1', s: 's' } });
    await mount.write('metadata/a', { custom_metadata: {} });
    expect(await metadata('a')).toMatchObject({ custom_metadata: null });
  });

  test('takes what is just within the limits', async () => {
    const entries = Array.from({ length: 64 }, (_, i) => [`${i}`.padEnd(128, 'k'), 'v'.repeat(512)]);
    await mount.write('metadata/a', { custom_metadata: Object.fromEntries(entries) as unknown });
    expect(Object.keys((await metadata('a'))['custom_metadata'] as object)).toHaveLength(64);
  });

  test('names everything that is wrong', async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v']));
    expect(await refused({ custom_metadata: many })).toBe(`${prefix}: payload must contain at most 64 keys, provided 65`);
    expect(await refused({ custom_metadata: { a: '' } })).toBe(
      `1 error occurred:\n\t* ${prefix}: length of value for key "a" is 0 but must be 0 < len(value) <= 512\n\n`,
    );
    expect(await refused({ custom_metadata: { ['ü'.repeat(65)]: 'ü'.repeat(257) } })).toMatch(/is 130 but .* is 514 but/s);
    expect(await refused({ custom_metadata: { a: 'x\ny', b: { c: 1 } } })).toMatch(/"b"/);
    expect(await refused({ custom_metadata: { a: 'x\ny', 'k\u0007': 'v' } })).toMatch(
      /^2 errors occurred:\n.*unprintable.*\n.*unprintable/,
    );
    expect((await mount.call('read', 'kv/metadata/a')).status).toBe(404);
  });

  test('is merged by a patch, where null removes a key', async () => {
    await mount.write('metadata/a', { max_versions: 3, custom_metadata: { a: '1', b: '2' } });
    await mount.patch('metadata/a', { custom_metadata: { a: null, c: '3' } });
    expect(await metadata('a')).toMatchObject({ max_versions: 3, custom_metadata: { b: '2', c: '3' }, current_metadata_version: 2 });
    await mount.patch('metadata/a', { cas_required: true });
    expect(await metadata('a')).toMatchObject({ cas_required: true, custom_metadata: { b: '2', c: '3' } });
    await mount.patch('metadata/a', { custom_metadata: null });
    expect(await metadata('a')).toMatchObject({ custom_metadata: null });
  });

  test('of a secret that is not there cannot be patched', async () => {
    expect((await mount.call('patch', 'kv/metadata/none', { data: { max_versions: 1 } })).status).toBe(404);
    expect((await mount.call('read', 'kv/metadata/none')).status).toBe(404);
  });
});

describe('max_versions', () => {
  const versions = async (id: string) => Object.keys((await metadata(id))['versions'] as object).map(Number);

  test('is 10 by default', async () => {
    for (let i = 0; i < 12; i += 1) await write('a', { i });
    expect(await versions('a')).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await metadata('a')).toMatchObject({ current_version: 12, oldest_version: 3 });
    expect(await mount.call('read', 'kv/data/a', { data: { version: 2 } })).toMatchObject({ status: 404, errors: [] });
    expect((await mount.read('data/a', { version: 3 })).data).toMatchObject({ data: { i: 2 } });
  });

  test('is the larger of the mount and the secret', async () => {
    await mount.write('config', { max_versions: 3 });
    await mount.write('metadata/less', { max_versions: 1 });
    await mount.write('metadata/more', { max_versions: 4 });
    for (let i = 0; i < 6; i += 1) for (const id of ['less', 'more', 'none']) await write(id);
    expect(await versions('less')).toEqual([4, 5, 6]);
    expect(await versions('more')).toEqual([3, 4, 5, 6]);
    expect(await versions('none')).toEqual([4, 5, 6]);
  });

  test('of one keeps the current version alone', async () => {
    await mount.write('metadata/a', { max_versions: 1 });
    for (let i = 0; i < 3; i += 1) await write('a', { i });
    expect(await versions('a')).toEqual([3]);
    expect((await mount.read('data/a')).data).toMatchObject({ data: { i: 2 } });
  });

  test('takes effect at the next write when it shrinks', async () => {
    await mount.write('metadata/a', { max_versions: 5 });
    for (let i = 0; i < 5; i += 1) await write('a', { i });
    await mount.write('metadata/a', { max_versions: 2 });
    expect(await versions('a')).toEqual([1, 2, 3, 4, 5]);
    await write('a', { i: 5 });
    expect(await versions('a')).toEqual([5, 6]);
  });
});

describe('lists', () => {
  beforeEach(async () => {
    for (const id of ['b', 'a/x', 'a/y/z', 'a', 'c d', 'é']) await write(id);
  });

  test('show one level, sorted, folders with a slash', async () => {
    expect((await mount.list('metadata/')).data).toEqual({ keys: ['a', 'a/', 'b', 'c d', 'é'] });
    expect((await mount.list('metadata/a')).data).toEqual({ keys: ['x', 'y/'] });
    expect(await mount.call('list', 'kv/metadata/nothere')).toMatchObject({ status: 404, errors: [] });
    expect((await mount.call('list', 'kv/metadata/b')).status).toBe(404);
  });

  test('of everything below a folder have whole names, page by page', async () => {
    expect((await mount.call('scan', 'kv/metadata/')).data).toEqual({ keys: ['a', 'a/x', 'a/y/z', 'b', 'c d', 'é'] });
    expect((await mount.call('scan', 'kv/metadata/a')).data).toEqual({ keys: ['x', 'y/z'] });
    expect((await mount.call('scan', 'kv/metadata/', { data: { after: 'a/x', limit: 2 } })).data).toEqual({ keys: ['a/y/z', 'b'] });
    expect((await mount.call('scan', 'kv/metadata/a', { data: { after: 'x' } })).data).toEqual({ keys: ['y/z'] });
    expect(await mount.call('scan', 'kv/metadata/nothere')).toMatchObject({ status: 404, errors: [] });
    const { data } = await mount.call('scan', 'kv/detailed-metadata/a');
    expect(data).toEqual({ keys: ['x', 'y/z'], key_info: { x: await metadata('a/x'), 'y/z': await metadata('a/y/z') } });
    expect((await mount.call('scan', 'kv/data/a')).status).toBe(405);
  });

  test('of everything below a folder take a capability of their own, and leave out folders that are denied', async () => {
    const policy = (text: string) => mount.call('update', 'sys/policies/acl/p', { data: { policy: text } });
    await mount.call('update', 'sys/policies/acl/p', { data: { policy: 'path "kv/metadata/*" { capabilities = ["list", "read"] }' } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } });
    const scan = async (path: string, operation: 'scan' | 'list' = 'scan') => {
      const answer = await mount.call(operation, path, { token: auth!.client_token });
      return (answer.data as { keys?: string[] } | null)?.keys ?? answer.status;
    };
    expect(await scan('kv/metadata/')).toBe(403);
    await policy('path "kv/metadata/*" { capabilities = ["scan"] }');
    expect([await scan('kv/metadata/'), await scan('kv/metadata/', 'list')]).toEqual([['a', 'a/x', 'a/y/z', 'b', 'c d', 'é'], 403]);
    await policy('path "kv/metadata" { capabilities = ["scan"] } path "kv/metadata/a/y/*" { capabilities = ["deny"] }');
    expect(await scan('kv/metadata/')).toEqual(['a', 'a/x', 'b', 'c d', 'é']);
    await policy('path "kv/*" { capabilities = ["scan"] } path "kv/metadata/a/*" { capabilities = ["deny"] }');
    expect([await scan('kv/metadata/'), await scan('kv/metadata/a')]).toEqual([['a', 'b', 'c d', 'é'], 403]);
    const { data } = await mount.call('update', 'sys/capabilities-self', { data: { paths: ['kv/metadata/'] }, token: auth!.client_token });
    expect(data).toMatchObject({ capabilities: ['scan'] });

    // What is below a denied folder tells its names as well, and a rule without capabilities denies.
    await policy('path "kv/*" { capabilities = ["scan"] } path "kv/metadata/a" { capabilities = ["deny"] }');
    expect(await scan('kv/metadata/')).toEqual(['a', 'b', 'c d', 'é']);
    for (const granted of ['', '"read"']) {
      await policy(`path "kv/*" { capabilities = ["scan"] } path "kv/metadata/a/*" { capabilities = [${granted}] }`);
      expect(await scan('kv/metadata/')).toEqual(['a', 'b', 'c d', 'é']);
    }
    await policy('path "kv/metadata" { capabilities = ["scan"] } path "kv/*" { capabilities = ["read"] }');
    expect(await scan('kv/metadata/')).toEqual(['a', 'a/x', 'a/y/z', 'b', 'c d', 'é']);
  });

  test('of everything below a folder have full pages where folders are denied', async () => {
    const policy = async (limit: string) => {
      const text = `path "kv/*" { capabilities = ["scan"] ${limit} } path "kv/+/a/*" { capabilities = ["deny"] }`;
      await mount.call('update', 'sys/policies/acl/p', { data: { policy: `${text} path "kv/metadata/a/*" { capabilities = ["deny"] }` } });
    };
    await policy('');
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } });
    const scan = async (path: string, page: Record<string, unknown>) => {
      const { data, status } = await mount.call('scan', path, { data: page, token: auth!.client_token });
      return (data as { keys?: string[] } | null)?.keys ?? status;
    };
    expect(await scan('kv/metadata/', { after: 'a', limit: 1 })).toEqual(['b']);
    expect(await scan('kv/metadata/', { limit: 2 })).toEqual(['a', 'b']);
    expect(await scan('kv/metadata/', { after: 'b', limit: 5 })).toEqual(['c d', 'é']);
    expect(await scan('kv/metadata/', { after: 'é', limit: 5 })).toBe(404);
    await policy('pagination_limit = 2');
    expect(await scan('kv/metadata/', { after: 'a' })).toEqual(['b', 'c d']);
    expect(await scan('kv/metadata/', { limit: 2 })).toEqual(['a', 'b']);
  });

  test('go page by page', async () => {
    expect((await mount.list('metadata/', { limit: 2 })).data).toEqual({ keys: ['a', 'a/'] });
    expect((await mount.list('metadata/', { after: 'a/', limit: '2' })).data).toEqual({ keys: ['b', 'c d'] });
    expect((await mount.list('metadata/', { after: 'bb', limit: -1 })).data).toEqual({ keys: ['c d', 'é'] });
    expect((await mount.call('list', 'kv/metadata/', { data: { after: 'é' } })).status).toBe(404);
  });

  test('show metadata beside the keys on request', async () => {
    const { data } = await mount.list('detailed-metadata/', { limit: 3 });
    expect(data).toEqual({ keys: ['a', 'a/', 'b'], key_info: { a: await metadata('a'), 'a/': {}, b: await metadata('b') } });
    expect((await mount.list('detailed-metadata/a')).data).toMatchObject({ key_info: { x: { current_version: 1 } } });
    expect(await mount.call('list', 'kv/detailed-metadata/none')).toMatchObject({ status: 404, errors: [] });
  });
});

describe('the settings of the mount', () => {
  test('have defaults and change only as sent', async () => {
    const defaults = { cas_required: false, delete_version_after: '0s', max_versions: 0, metadata_cas_required: false };
    expect((await mount.read('config')).data).toEqual(defaults);
    expect((await mount.write('config', { max_versions: 7, cas_required: false })).status).toBe(204);
    await mount.write('config', { delete_version_after: '36h', metadata_cas_required: true });
    expect((await mount.read('config')).data).toEqual({
      ...defaults,
      max_versions: 7,
      delete_version_after: '36h0m0s',
      metadata_cas_required: true,
    });
    await mount.write('config', { delete_version_after: '-1h' });
    expect((await mount.read('config')).data).toMatchObject({ delete_version_after: '-1s' });
  });

  test('refuse what is out of range', async () => {
    expect((await mount.call('update', 'kv/config', { data: { max_versions: -1 } })).status).toBe(400);
    expect((await mount.call('update', 'kv/config', { data: { delete_version_after: 'x' } })).status).toBe(400);
  });
});
