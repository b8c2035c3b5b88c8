import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { mounted, type MountedAppRole } from './mounted.ts';

describe('the removal of secret ids', () => {
  let mount: MountedAppRole;
  let raw: StorageDriver;
  beforeEach(async () => {
    const store = sharedMemory();
    mount = await mounted({ storage: store.open() });
    raw = store.open();
    await mount.role('web', { secret_id_ttl: '10m' });
    await mount.role('free');
  });
  afterEach(async () => mount.close());

  const stored = async (): Promise<number> =>
    (await raw.range({ keysOnly: true })).filter(({ key }) => /\/(secret-id|accessor|expiry)\//.test(key)).length;
  const tidy = async (): Promise<unknown[]> => {
    const { status, warnings } = await mount.call('update', 'auth/approle/tidy/secret-id', { data: {} });
    return [status, ...(warnings ?? [])];
  };

  test('is done once a minute for those that have expired', async () => {
    await mount.secretId('web');
    const kept = await mount.secretId('web', { ttl: '5m' });
    const endless = await mount.secretId('free');
    await mount.advance('6m');
    expect(await mount.accessors('web')).not.toContain(kept.secret_id_accessor);
    await mount.advance('6m');
    expect(await mount.accessors('web')).toEqual([]);
    expect(await mount.accessors('free')).toEqual([endless.secret_id_accessor]);
    expect(await stored()).toBe(2);
    await mount.secretId('web');
    await mount.advance('12m');
    expect(await stored()).toBe(2);
  });

  test('goes on after a restart', async () => {
    await mount.secretId('web');
    await mount.core.seal();
    await mount.core.openAutomatically();
    await mount.advance('11m');
    expect(await stored()).toBe(0);
  });

  test('is done in the background when an operator asks, once at a time', async () => {
    for (let i = 0; i < 600; i += 1) await mount.secretId('web', { ttl: '1s' });
    await mount.clock.advance('2s');
    const answers = await Promise.all([tidy(), tidy()]);
    expect(answers.map(([status]) => status).sort()).toEqual([200, 202]);
    expect(answers.flat()).toContain('Tidy operation already in progress.');
    await mount.core.settleSchedule();
    expect(await stored()).toBe(0);
    expect((await tidy())[0]).toBe(202);
  });

  test('follows the end of their role, in chunks, and leaves those of other roles', async () => {
    for (let i = 0; i < 600; i += 1) await mount.secretId('web');
    const { secret_id } = await mount.secretId('free');
    const roleId = await mount.role('free');
    await mount.delete('role/web');
    await mount.role('web');
    expect(await mount.accessors('web')).toEqual([]);
    await mount.core.settleSchedule();
    expect(await stored()).toBe(2);
    expect((await mount.login(roleId, secret_id)).status).toBe(200);
  });

  test('an unmount leaves nothing', async () => {
    await mount.secretId('web');
    await mount.delete('role/free');
    await mount.call('delete', 'sys/auth/approle');
    await mount.core.settleSchedule();
    expect(await stored()).toBe(0);
  });
});
