import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { killableMount, manualClock, type KillableMount, type TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { configFor, dataOf, DirectoryView, managerDn, managerPassword, mountLdap, withManager } from './ldap-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('a plan of config rotates bindpass by itself', () => {
  let slapd: Slapd;
  let view: DirectoryView;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd(withManager);
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await slapd.stop();
  });
  beforeEach(async () => {
    await view.setPassword(managerDn, managerPassword);
    mount = await mountLdap(slapd);
  });
  afterEach(async () => mount.close());

  const config = async (at: TestMount = mount): Promise<Record<string, unknown>> => dataOf(await at.read('config'));
  const refusal = async (data: object): Promise<string> => {
    const { status, errors } = await mount.call('update', 'ldap/config', { data: data as never });
    expect(status).toBe(400);
    return errors!.join();
  };
  const takesOld = async (): Promise<boolean> => view.takes(managerDn, managerPassword);

  test('after each period, and the mount goes on with the new password', async () => {
    await mount.write('config', { rotation_period: '24h' });
    expect(await config()).toMatchObject({ rotation_period: 86_400 });
    await mount.advance('23h');
    expect(await takesOld()).toBe(true);
    // To the very moment: the clock stands still while the directory answers.
    await mount.advance('1h');
    expect(await takesOld()).toBe(false);
    const first = (await config())['last_bind_password_rotation'];
    expect(first).toBeDefined();
    await mount.advance('24h');
    expect((await config())['last_bind_password_rotation']).not.toBe(first);
    expect((await mount.call('update', 'ldap/rotate-root')).status).toBe(204);
  });

  test('on a schedule, in place of a period', async () => {
    await mount.write('config', { rotation_period: '24h' });
    await mount.write('config', { rotation_schedule: '0 3 * * *', rotation_window: '1h' });
    expect(await config()).toMatchObject({ rotation_schedule: '0 3 * * *', rotation_window: 3_600 });
    expect(await config()).not.toHaveProperty('rotation_period');
    await mount.advance('3h');
    expect(await takesOld()).toBe(false);
  });

  test('not while it is paused, and not once it is removed', async () => {
    await mount.write('config', { rotation_period: '24h', disable_automated_rotation: true });
    await mount.advance('72h');
    expect(await takesOld()).toBe(true);
    await mount.write('config', { disable_automated_rotation: false });
    await mount.write('config', { rotation_period: 0 });
    await mount.advance('72h');
    expect(await takesOld()).toBe(true);
  });

  test('not after config is deleted', async () => {
    await mount.write('config', { rotation_period: '24h' });
    await mount.delete('config');
    await mount.advance('72h');
    expect(await takesOld()).toBe(true);
  });

  test('a plan that cannot be kept is refused', async () => {
    expect(await refusal({ rotation_period: '24h', rotation_schedule: '0 3 * * *' })).toMatch(/rotation_period|rotation_schedule/);
    expect(await refusal({ rotation_window: '1h' })).toContain('rotation_window is only valid with rotation_schedule');
    expect(await refusal({ rotation_period: '5s' })).toContain('rotation_period');
    expect(await refusal({ rotation_schedule: 'at night' })).toContain('rotation_schedule');
    expect(await config()).not.toHaveProperty('rotation_period');
  });

  test('two mounts that log in with one account are warned, and show each other', async () => {
    await mount.call('update', 'sys/mounts/other', { data: { type: 'ldap' } });
    const data = { ...configFor(slapd), binddn: managerDn.toUpperCase() };
    const { warnings } = await mount.call('update', 'other/config', { data });
    expect(warnings?.join()).toContain('ldap/ logs in with the same account');
    expect(await config()).toMatchObject({ binddn_shared_with: ['other/'] });
    await mount.call('delete', 'other/config');
    expect(await config()).not.toHaveProperty('binddn_shared_with');
  });

  test('a server that dies in the middle of a planned rotation finds out which password is taken', async () => {
    for (let commits = 0; commits < 3; commits += 1) {
      await view.setPassword(managerDn, managerPassword);
      const before = await killableMount(ldapSecrets, { path: 'ldap', clock: manualClock() });
      let after: KillableMount | undefined;
      try {
        await before.write('config', { ...configFor(slapd), rotation_period: '24h' });
        before.storage.dieAfter(commits);
        expect(await before.diesIn(before.pass(86_500))).toBe(true);
        after = await before.restart();
        await after.pass(90_000);
        expect((await after.call('update', 'ldap/rotate-root')).status).toBe(204);
        expect(dataOf<{ root_rotation: object }>(await after.read('config')).root_rotation).toMatchObject({ state: 'waiting' });
      } finally {
        await after?.close();
      }
    }
  });
});
