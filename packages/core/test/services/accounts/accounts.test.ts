import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

describe('one account has one manager', () => {
  let mount: TestMount;

  beforeEach(async () => {
    mount = await mountForTest(testEngine(new Outside()), { path: 'one' });
    await mount.call('update', 'sys/mounts/two', { data: { type: 'test' } });
  });
  afterEach(async () => mount.close());

  const call = async (operation: 'read' | 'update' | 'delete', path: string, data: Record<string, unknown> = {}) =>
    mount.call(operation, path, { data });

  test('a second manager is refused with a sentence that names the first, on the same mount and on another', async () => {
    expect((await call('update', 'one/managed/ann', { by: 'static role "a"' })).status).toBe(204);
    expect((await call('update', 'one/managed/ann', { by: 'static role "a"' })).status).toBe(204);
    const same = await call('update', 'one/managed/ann', { by: 'static role "b"' });
    expect(same.status).toBe(400);
    expect(same.errors?.[0]).toMatch(/"ann" is already managed by static role "a" of this mount; .*adopt=true/);
    const other = await call('update', 'two/managed/ann', { by: 'static role "b"' });
    expect(other.errors?.[0]).toMatch(/managed by static role "a" of one\//);
  });

  test('adopt takes the account over, and the previous manager sees it', async () => {
    await call('update', 'one/managed/ann', { by: 'static role "a"' });
    expect((await call('update', 'two/managed/ann', { by: 'static role "b"', adopt: true })).status).toBe(204);
    expect((await call('read', 'one/managed/ann')).data).toEqual({ mount: 'two/', by: 'static role "b"', own: false });
    expect((await call('read', 'two/managed/ann')).data).toMatchObject({ own: true });
    await call('delete', 'one/managed/ann', { by: 'static role "a"' });
    expect((await call('read', 'two/managed/ann')).data).toMatchObject({ own: true });
  });

  test('an account is free again when its manager lets it go, or its mount is removed', async () => {
    await call('update', 'two/managed/ann', { by: 'static role "b"' });
    await call('delete', 'two/managed/ann', { by: 'static role "b"' });
    expect((await call('update', 'one/managed/ann', { by: 'static role "a"' })).status).toBe(204);
    await call('update', 'two/managed/bob', { by: 'static role "b"' });
    expect((await call('delete', 'sys/mounts/two')).status).toBe(200);
    expect((await call('read', 'one/managed/bob')).status).toBe(404);
    expect((await call('update', 'one/managed/bob', { by: 'static role "a"' })).status).toBe(204);
  });
});
