import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

let mount: TestMount;
beforeEach(async () => {
  mount = await mountForTest(kvEngine, { options: { version: '2' } });
});
afterEach(async () => mount.close());

const T = (second: number) => `2024-05-0${second}T10:00:00.123456789Z`;
const version = (at: number, data?: object, more: object = {}) => ({
  created_time: T(at),
  deletion_time: '',
  destroyed: false,
  ...(data ? { data } : {}),
  ...more,
});
const settings = (current: number, more: object = {}) => ({
  created_time: T(1),
  updated_time: T(9),
  current_version: current,
  oldest_version: 0,
  current_metadata_version: 4,
  max_versions: 3,
  cas_required: true,
  metadata_cas_required: false,
  delete_version_after: '3h25m19s',
  custom_metadata: { owner: 'ops' },
  ...more,
});
const bring = async (body: object, id = 'app/db') => mount.call('update', `kv/import/${id}`, { data: body as Record<string, unknown> });
const refusal = async (body: object) => {
  const answer = await bring(body);
  expect(answer.status).toBe(400);
  return answer.errors?.join();
};
const metadata = async () => (await mount.read('metadata/app/db')).data as Record<string, unknown>;
const data = async (number: number) => mount.call('read', 'kv/data/app/db', { data: { version: number } });

const whole = {
  metadata: settings(4),
  versions: {
    '1': version(1, { a: 1 }),
    '2': version(2, undefined, { destroyed: true }),
    '3': version(3, undefined, { deletion_time: T(4) }),
    '4': version(5, { a: { b: ['4'] } }),
  },
};

describe('an imported secret', () => {
  test('has the numbers, times, deletions and settings of the other server, to the last digit', async () => {
    expect((await bring(whole)).status).toBe(200);
    expect(await metadata()).toEqual({
      ...whole.metadata,
      versions: {
        '1': { created_time: T(1), deletion_time: '', destroyed: false },
        '2': { created_time: T(2), deletion_time: '', destroyed: true },
        '3': { created_time: T(3), deletion_time: T(4), destroyed: false },
        '4': { created_time: T(5), deletion_time: '', destroyed: false },
      },
    });
    expect((await data(1)).data).toMatchObject({ data: { a: 1 }, metadata: { created_time: T(1) } });
    expect((await data(0)).data).toMatchObject({ data: { a: { b: ['4'] } } });
    expect((await data(2)).status).toBe(404);
  });

  test('goes on: the next write is the next version, and check-and-set counts from there', async () => {
    await bring({ ...whole, metadata: settings(4, { max_versions: 0 }) });
    const refused = await mount.call('update', 'kv/data/app/db', { data: { data: { a: 5 } } });
    expect(refused.errors?.join()).toContain('check-and-set parameter required');
    const written = await mount.call('update', 'kv/data/app/db', { data: { data: { a: 5 }, options: { cas: 4 } } });
    expect(written.data).toMatchObject({ version: 5 });
    expect((await data(4)).data).toMatchObject({ data: { a: { b: ['4'] } } });
  });

  test('comes again without any change, and later with the versions that it has got since', async () => {
    await bring(whole);
    const before = await metadata();
    expect((await bring(whole)).status).toBe(200);
    expect(await metadata()).toEqual(before);
    await bring({ metadata: settings(5, { max_versions: 9 }), versions: { ...whole.versions, '5': version(6, { a: 5 }) } });
    expect(await metadata()).toMatchObject({ current_version: 5, max_versions: 9 });
    expect((await data(1)).data).toMatchObject({ data: { a: 1 } });
    expect((await data(4)).data).toMatchObject({ data: { a: { b: ['4'] } } });
    expect((await data(5)).data).toMatchObject({ data: { a: 5 } });
  });

  test('may come in parts: data of versions that are here need not be sent again', async () => {
    await bring({ metadata: settings(1), versions: { '1': version(1, { a: 1 }) } });
    await bring({ metadata: settings(2), versions: { '1': version(1), '2': version(2, { a: 2 }) } });
    expect((await data(1)).data).toMatchObject({ data: { a: 1 } });
    expect((await data(2)).data).toMatchObject({ data: { a: 2 } });
  });

  test('loses the versions that the other server has destroyed or pruned since', async () => {
    await bring({ metadata: settings(2), versions: { '1': version(1, { a: 1 }), '2': version(2, { a: 2 }) } });
    await bring({ metadata: settings(2, { oldest_version: 2 }), versions: { '2': version(2, undefined, { destroyed: true }) } });
    expect((await data(1)).status).toBe(404);
    expect((await data(2)).status).toBe(404);
    expect(await metadata()).toMatchObject({ versions: { '2': { destroyed: true } } });
  });

  test('cannot be undeleted where its data did not come, until the data comes', async () => {
    await bring(whole);
    await mount.write('undelete/app/db', { versions: [3] });
    expect((await data(3)).status).toBe(404);
    expect(await metadata()).toMatchObject({ versions: { '3': { deletion_time: T(4) } } });
    await bring({ ...whole, versions: { ...whole.versions, '3': version(3, { a: 3 }, { deletion_time: T(4) }) } });
    await mount.write('undelete/app/db', { versions: [3] });
    expect((await data(3)).data).toMatchObject({ data: { a: 3 } });
  });

  test('never replaces versions of its own, unless that is asked for', async () => {
    await mount.write('data/app/db', { data: { mine: true } });
    expect(await refusal(whole)).toContain('versions of its own');
    expect((await data(0)).data).toMatchObject({ data: { mine: true } });
    expect((await bring({ ...whole, replace: true })).status).toBe(200);
    expect((await data(1)).data).toMatchObject({ data: { a: 1 } });
    expect(await refusal({ ...whole, versions: { ...whole.versions, '1': version(1, { a: 2 }) } })).toContain('version 1');
  });

  test('without versions has its metadata alone', async () => {
    await bring({ metadata: settings(0), versions: {} });
    expect(await metadata()).toMatchObject({ current_version: 0, versions: {}, custom_metadata: { owner: 'ops' } });
  });

  test('keeps large values, and numbers digit by digit', async () => {
    const large = 'x'.repeat(20_000);
    await bring({ metadata: settings(2), versions: { '1': version(1, { large }), '2': version(2, { large, b: 2 }) } });
    expect((await data(1)).data).toMatchObject({ data: { large } });
    expect((await data(2)).data).toMatchObject({ data: { large, b: 2 } });
  });

  test('needs sudo', async () => {
    await mount.call('update', 'sys/policies/acl/writer', {
      data: { policy: 'path "kv/import/*" { capabilities = ["create", "update"] }' },
    });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
    expect((await mount.call('update', 'kv/import/app/db', { data: whole, token })).status).toBe(403);
  });

  test.each([
    [{ versions: {} }, 'metadata'],
    [{ metadata: settings(0) }, 'versions'],
    [{ metadata: settings(2), versions: { '1': version(1, { a: 1 }) } }, 'metadata.current_version must be 1'],
    [{ metadata: settings(1), versions: { '0': version(1, { a: 1 }) } }, 'versions.0'],
    [{ metadata: settings(1), versions: { '1': 7 } }, 'versions.1 must be an object'],
    [{ metadata: settings(1), versions: { '1': version(1, { a: 1 }, { created_time: 'today' }) } }, 'versions.1.created_time'],
    [
      { metadata: settings(1), versions: { '1': version(1, { a: 1 }, { created_time: '2026-02-30T00:00:00Z' }) } },
      'versions.1.created_time must be a time',
    ],
    [{ metadata: settings(1), versions: { '1': version(1) } }, 'versions.1.data is missing'],
    [{ metadata: settings(1), versions: { '1': version(1, { a: 1 }, { destroyed: true }) } }, 'a destroyed version has none'],
    [{ metadata: settings(1, { oldest_version: 2 }), versions: { '1': version(1, { a: 1 }) } }, 'metadata.oldest_version'],
    [{ metadata: settings(0, { max_versions: -1 }), versions: {} }, 'metadata.max_versions'],
    [{ metadata: settings(0, { created_time: '' }), versions: {} }, 'metadata.created_time'],
    [{ metadata: settings(0, { delete_version_after: 'soon' }), versions: {} }, 'metadata.delete_version_after'],
    [{ metadata: settings(0, { custom_metadata: { a: '' } }), versions: {} }, 'custom_metadata validation failed'],
  ])('%# is refused by name where it cannot be', async (body, text) => {
    expect(await refusal(body)).toContain(text);
  });
});
