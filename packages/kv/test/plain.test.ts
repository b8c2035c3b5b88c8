import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

describe('a mount of version 1', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountForTest(kvEngine);
  });
  afterEach(async () => mount.close());

  test('answers what was written, with the default lease of the mount', async () => {
    const written = await mount.write('a/b', { x: '1', nested: { y: [1, null] } });
    expect(written.status).toBe(204);
    const read = await mount.read('a/b');
    expect(read).toMatchObject({ status: 200, leaseId: '', renewable: false, leaseDuration: 2_764_800, warnings: null });
    expect(read.data).toEqual({ x: '1', nested: { y: [1, null] } });
  });

  test.each([
    [{ ttl: '1h' }, 3600],
    [{ ttl: 90 }, 90],
    [{ lease: '2d' }, 172_800],
    [{ ttl: '30s', lease: '1h' }, 30],
    [{ ttl: 'soon' }, 2_764_800],
    [{ ttl: '-1h' }, 2_764_800],
    [{ ttl: { a: 1 } }, 2_764_800],
  ])('takes the lease duration of %j', async (data, seconds) => {
    await mount.write('a', data);
    const read = await mount.read('a');
    expect(read.leaseDuration).toBe(seconds);
    expect(read.data).toEqual(data);
  });

  test('replaces the whole value', async () => {
    await mount.write('a', { x: 1 });
    await mount.write('a', { y: 2 });
    expect((await mount.read('a')).data).toEqual({ y: 2 });
  });

  test('lists one level, sorted, folders with a slash', async () => {
    for (const id of ['b', 'a/x', 'a/y/z', 'c', 'a']) await mount.write(id, { v: 1 });
    expect((await mount.list('')).data).toEqual({ keys: ['a', 'a/', 'b', 'c'] });
    expect((await mount.list('a')).data).toEqual({ keys: ['x', 'y/'] });
    expect((await mount.list('', { after: 'a/', limit: '1' })).data).toEqual({ keys: ['b'] });
    expect((await mount.call('list', 'kv/', { data: { limit: 'x' } })).status).toBe(400);
  });

  test('lists everything below a folder', async () => {
    for (const id of ['b', 'a/x', 'a/y/z', 'a']) await mount.write(id, { v: 1 });
    expect((await mount.call('scan', 'kv/')).data).toEqual({ keys: ['a', 'a/x', 'a/y/z', 'b'] });
    expect((await mount.call('scan', 'kv/a', { data: { limit: '1' } })).data).toEqual({ keys: ['x'] });
    expect(await mount.call('scan', 'kv/none')).toMatchObject({ status: 404, errors: [] });
  });

  test('answers 404 for what is not there', async () => {
    expect(await mount.call('read', 'kv/none')).toMatchObject({ status: 404, errors: [] });
    expect(await mount.call('list', 'kv/none')).toMatchObject({ status: 404, errors: [] });
  });

  test('deletes, also what is not there', async () => {
    await mount.write('a/b', { x: 1 });
    expect((await mount.delete('a/b')).status).toBe(204);
    expect((await mount.call('read', 'kv/a/b')).status).toBe(404);
    expect((await mount.delete('a/b')).status).toBe(204);
  });

  test('refuses a write of nothing', async () => {
    expect(await mount.call('update', 'kv/a', { data: {} })).toMatchObject({ status: 400, errors: ['missing data fields'] });
  });

  test('keeps secrets at the paths that version 2 gives a meaning, whatever they hold', async () => {
    for (const id of ['config', 'data/x', 'metadata/x', 'destroy/x']) {
      const data = { max_versions: 'many', options: 'none', versions: { a: 1 }, data: 'text', path: 'p', after: [1], limit: 'none' };
      await mount.write(id, data);
      expect((await mount.read(id)).data).toEqual(data);
    }
    expect((await mount.list('data')).data).toEqual({ keys: ['x'] });
  });

  test('keeps keys that mean something to JavaScript', async () => {
    const data = JSON.parse('{"__proto__":{"a":1},"constructor":"c","toString":1}') as Record<string, unknown>;
    await mount.write('odd', data);
    expect(JSON.stringify((await mount.read('odd')).data)).toBe(JSON.stringify(data));
  });
});

describe('mounting', () => {
  const mountAs = async (type: string, options?: Record<string, string>) => {
    const mount = await mountForTest(kvEngine);
    const answer = await mount.call('update', 'sys/mounts/other', { data: { type, ...(options ? { options } : {}) } });
    const versioned = (await mount.call('read', 'other/config')).status === 200;
    await mount.close();
    return { status: answer.status, errors: answer.errors, versioned };
  };

  test('kv is version 1 unless it says otherwise, kv-v2 is version 2', async () => {
    expect(await mountAs('kv')).toMatchObject({ status: 204, versioned: false });
    expect(await mountAs('kv', { version: '1' })).toMatchObject({ status: 204, versioned: false });
    expect(await mountAs('kv', { version: '2' })).toMatchObject({ status: 204, versioned: true });
    expect(await mountAs('kv-v1')).toMatchObject({ status: 204, versioned: false });
    expect(await mountAs('kv-v2')).toMatchObject({ status: 204, versioned: true });
  });

  test('other versions are refused', async () => {
    expect(await mountAs('kv', { version: '3' })).toMatchObject({
      status: 400,
      errors: ['the option "version" of a kv mount must be "1" or "2", not "3"'],
    });
  });
});
