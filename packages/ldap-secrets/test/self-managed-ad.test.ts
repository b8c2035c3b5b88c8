import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { adUser, describeWithSamba, startSamba, type SambaServer } from '@strongroom/lab';
import { createDirectory, LdapError, type Directory } from '@strongroom/ldap-client';
import { ldapSecrets } from '../src/index.ts';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { dataOf } from './ldap-mount.ts';

const users = 'CN=Users,DC=corp,DC=example';
const dn = `CN=ann,${users}`;

// Samba takes its time, and the machine may be busy.
jest.setTimeout(60_000);

describeWithSamba('accounts of Active Directory, emulated by Samba, that change their own passwords', () => {
  let samba: SambaServer;
  let directory: Directory;
  let mount: TestMount;
  let cutter: LdapCutter | undefined;

  beforeAll(async () => {
    const accounts = [adUser('ann', { password: 'first-ann' }), adUser('new', { password: 'first-new', mustChange: true })];
    samba = await startSamba({ ldif: accounts.join('') });
    directory = createDirectory({ urls: [samba.ldapsUrl], certificate: samba.ca.certificate });
  }, 120_000);
  afterAll(async () => {
    directory?.close();
    await samba?.stop();
  });
  beforeEach(async () => {
    await samba.tool('user', 'setpassword', 'ann', '--newpassword=first-ann');
    mount = await mountForTest(ldapSecrets, { path: 'ldap' });
    await mount.write('config', config());
  });
  afterEach(async () => {
    await mount.close();
    await cutter?.stop();
    cutter = undefined;
  });

  const config = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    schema: 'ad',
    url: samba.ldapsUrl,
    certificate: samba.ca.certificate,
    self_managed: true,
    ...more,
  });
  const role = { username: 'ann', dn, rotation_period: '24h', password: 'first-ann' };
  const takes = async (password: string): Promise<boolean> => {
    try {
      await directory.verifyUser('ann@corp.example', password);
      return true;
    } catch (error) {
      if (error instanceof LdapError && error.answered) return false;
      throw error;
    }
  };
  const passwordOf = async (name: string): Promise<string> =>
    dataOf<{ password: string }>(await mount.read(`static-cred/${name}`)).password;

  test('are rotated by their distinguished names, at creation, on demand and by their plan', async () => {
    await mount.write('static-role/app', role);
    const first = await passwordOf('app');
    expect([await takes(first), await takes('first-ann')]).toEqual([true, false]);
    await mount.write('rotate-role/app');
    const second = await passwordOf('app');
    expect([await takes(second), await takes(first)]).toEqual([true, false]);
    await mount.advance('24h');
    const third = await passwordOf('app');
    expect([third === second, await takes(third)]).toEqual([false, true]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['ann@corp.example', {}],
    ['ann', { upndomain: 'corp.example' }],
  ])('log in with the principal name %s, and find themselves below userdn', async (username, more) => {
    await mount.write('config', { userdn: users, ...more });
    await mount.write('static-role/app', { ...role, username, dn: '' });
    await mount.write('rotate-role/app');
    expect([await takes(await passwordOf('app')), await takes('first-ann')]).toEqual([true, false]);
  });

  test('are refused with a wrong password, and where the directory wants a new one first, which it says', async () => {
    const wrong = await mount.call('update', 'ldap/static-role/app', { data: { ...role, password: 'wrong-7Hy' } });
    expect([wrong.status, wrong.errors!.join()]).toEqual([400, expect.stringContaining(`password: the directory does not take it`)]);
    const data = { ...role, username: 'new', dn: `CN=new,${users}`, password: 'first-new' };
    const stale = await mount.call('update', 'ldap/static-role/app', { data });
    expect([stale.status, stale.errors!.join()]).toEqual([500, expect.stringMatching(/failed to bind as "CN=new,.*data 773/)]);
    expect(stale.errors!.join()).not.toContain('first-new');
    expect((await mount.call('read', 'ldap/static-role/app')).status).toBe(404);
  });

  test('whose new password breaks a rule of the domain keep the one that they have', async () => {
    await mount.write('config', { length: 2 });
    const { status, errors } = await mount.call('update', 'ldap/static-role/app', { data: role });
    expect([status, errors!.join()]).toEqual([500, expect.stringContaining('Constraint Violation')]);
    expect([await passwordOf('app'), await takes('first-ann')]).toEqual(['first-ann', true]);
    await mount.write('config', { length: 0 });
    await mount.write('rotate-role/app');
    expect([await takes(await passwordOf('app')), await takes('first-ann')]).toEqual([true, false]);
  });

  test.each(['request', 'answer'] as const)(
    'are found out by their logins wherever a rotation is cut off and what is sent then (the %s) is lost',
    async (loss) => {
      cutter = await startLdapCutter(636, samba.host, { opaque: true });
      await mount.write('config', config({ url: `ldaps://127.0.0.1:${cutter.port}`, insecure_tls: true }));
      await mount.write('static-role/app', role);
      let doubts = 0;
      for (const call of [0, 1, 2, 3, 4]) {
        const before = await passwordOf('app');
        cutter.cutAt(call, loss);
        const cut = cutter.cut().then(() => cutter!.shut());
        await Promise.all([cut, mount.call('update', 'ldap/rotate-role/app')]);
        const meanwhile = await mount.read('static-cred/app');
        if (meanwhile.warnings?.join().includes('its outcome is not known yet')) doubts += 1;
        cutter.open();
        const known = await mount.read('static-cred/app');
        expect(known.warnings).toBeNull();
        expect(await takes(dataOf<{ password: string }>(known).password)).toBe(true);
        for (let i = 0; i < 10; i += 1) await mount.advance(30);
        const after = await passwordOf('app');
        expect([await takes(after), after === before]).toEqual([true, false]);
      }
      expect(doubts).toBeGreaterThan(0);
    },
  );
});
