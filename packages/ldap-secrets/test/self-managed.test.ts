import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { startLdapCutter } from './ldap-cutter.ts';
import { dataOf, DirectoryView, managerDn, managerPassword, SVC, withManager } from './ldap-mount.ts';

/** The rules of docs/engines/ldap-secrets.md for accounts that change their own passwords, after one for an account that may not. */
const ownRights = `access to dn.exact="uid=svc3,${SVC}" attrs=userPassword
  by anonymous auth
access to dn.children="${SVC}" attrs=userPassword
  by self =w
  by anonymous auth
access to dn.children="${SVC}" attrs=entry,entryUUID
  by self read
access to dn.exact="${managerDn}"
  by anonymous auth
access to * by * none`;

const dn = `uid=svc1,${SVC}`;
const role = { username: 'svc1', dn, rotation_period: '24h', password: 'in-use-today' };
const secrets = /in-use-today|wrong-7Hy|set-outside|manager-first/;

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('accounts that change their own passwords', () => {
  let slapd: Slapd;
  let view: DirectoryView;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd({ ...withManager, config: ownRights });
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await slapd.stop();
  });
  beforeEach(async () => {
    await view.setPassword(dn, 'in-use-today');
    mount = await mountForTest(ldapSecrets, { path: 'ldap' });
    await mount.write('config', { url: slapd.url, self_managed: true });
  });
  afterEach(async () => mount.close());

  /** The answer in one text: its status, its errors and its warnings. */
  const write = async (data: Record<string, unknown>, path = 'static-role/app', token?: string): Promise<string> => {
    const { status, errors, warnings } = await mount.call('update', `ldap/${path}`, { data, ...(token === undefined ? {} : { token }) });
    // What cannot be asked for comes as a list of one.
    const said = (errors ?? []).map((text) => text.replace(/^1 error occurred:\s+\* /, '').trim());
    return [status, ...said, ...(warnings ?? [])].join();
  };
  const cred = async () => dataOf<{ password: string; last_password: string }>(await mount.read('static-cred/app'));
  const takes = async (password: string): Promise<boolean> => view.takes(dn, password);

  test('are rotated at creation, on demand and by their plan, without a service account', async () => {
    expect(await write(role)).toBe('204');
    const first = await cred();
    expect([first.last_password, await takes(first.password), await takes('in-use-today')]).toEqual(['in-use-today', true, false]);
    expect(await write({}, 'rotate-role/app')).toBe('204');
    const second = (await cred()).password;
    expect([await takes(second), await takes(first.password)]).toEqual([true, false]);
    await mount.advance('24h');
    const third = (await cred()).password;
    expect([third === second, await takes(third), await takes(second)]).toEqual([false, true, false]);
    expect((await view.entry(dn))!.values('userPassword')).toHaveLength(1);
  });

  test('are imported as they are with skip_import_rotation, and shown nowhere but in static-cred', async () => {
    expect(await write({ ...role, skip_import_rotation: true })).toBe('204');
    expect(await cred()).toMatchObject({ password: 'in-use-today' });
    expect(JSON.stringify([(await mount.read('static-role/app')).data, (await mount.read('config')).data])).not.toMatch(secrets);
    await mount.advance('24h');
    expect([await takes((await cred()).password), await takes('in-use-today')]).toEqual([true, false]);
  });

  test('whose entries keep digests of their passwords are rotated as well', async () => {
    const salt = Buffer.from('salt');
    const digest = createHash('sha1').update('in-use-today').update(salt).digest();
    await view.setPassword(dn, `{SSHA}${Buffer.concat([digest, salt]).toString('base64')}`);
    expect(await write(role)).toBe('204');
    expect(await write({}, 'rotate-role/app')).toBe('204');
    expect([await takes((await cred()).password), await takes('in-use-today')]).toEqual([true, false]);
  });

  test('whose password was changed outside keep what is stored until the new one is sent', async () => {
    await write(role);
    const known = (await cred()).password;
    await view.setPassword(dn, 'set-outside');
    const refusal = await write({}, 'rotate-role/app');
    expect(refusal).toMatch(/^500,.*failed to bind as "uid=svc1,.*Invalid Credentials/s);
    expect(refusal).not.toContain(known);
    expect((await cred()).password).toBe(known);
    expect(await write({ password: 'wrong-7Hy' })).toMatch(/^400,password: the directory does not take it for the account "uid=svc1,/);
    expect(await write({ password: '' })).toMatch(/^400,password: it is empty/);
    expect(await write({ password: 'set-outside' })).toBe('204');
    expect((await cred()).password).toBe('set-outside');
    expect(await write({}, 'rotate-role/app')).toBe('204');
    expect([await takes((await cred()).password), await takes('set-outside')]).toEqual([true, false]);
  });

  test.each<[Record<string, unknown>, RegExp]>([
    [{ password: undefined }, /^400,password: this mount is self_managed/],
    [{ password: '' }, /^400,password: it is empty/],
    [{ password: 'wrong-7Hy' }, /^400,password: the directory does not take it for the account "uid=svc1,/],
    [{ verify: false }, /^400,verify: this mount is self_managed/],
    [{ dn: undefined }, /^400,dn: this mount is self_managed, so nobody searches/],
    [{ dn: `uid=nobody,${SVC}` }, /^400,password: the directory does not take it for the account "uid=nobody,/],
    [{ password_policy: 'missing' }, /^400,.*"missing"/],
  ])('%j is a 400 that names the field and shows no password, and no role is stored', async (sent, refusal) => {
    const answer = await write({ ...role, ...sent });
    expect(answer).toMatch(refusal);
    expect(answer).not.toMatch(secrets);
    expect((await mount.call('read', 'ldap/static-role/app')).status).toBe(404);
    expect(await takes('in-use-today')).toBe(true);
    expect(await write(role)).toBe('204');
  });

  test('are not touched while the directory is down, and a new role is not stored then', async () => {
    const cutter = await startLdapCutter(slapd.port);
    try {
      await mount.write('config', { url: cutter.url });
      cutter.shut();
      expect(await write(role)).toMatch(/^500,LDAP Result Code 200 "Network Error"/);
      expect((await mount.call('read', 'ldap/static-role/app')).status).toBe(404);
      cutter.open();
      await write(role);
      const { password } = await cred();
      cutter.shut();
      expect(await write({}, 'rotate-role/app')).toMatch(/^500,/);
      expect((await cred()).password).toBe(password);
      cutter.open();
      await mount.advance(60);
      const after = (await cred()).password;
      expect([after === password, await takes(after)]).toEqual([false, true]);
    } finally {
      await cutter.stop();
    }
  });

  test('that may not change it keep their password, and the role says why', async () => {
    const fixed = { username: 'svc3', dn: `uid=svc3,${SVC}`, rotation_period: '24h', password: 'pw3' };
    const refusal = await write(fixed);
    expect(refusal).toMatch(/^500,the role is stored with the password that was sent; .*Insufficient Access Rights/s);
    expect(refusal).not.toContain('pw3');
    expect((await cred()).password).toBe('pw3');
    const { status } = dataOf<{ status: object }>(await mount.read('static-role/app'));
    const last_error = { message: expect.stringContaining('Insufficient Access Rights') };
    expect(status).toMatchObject({ state: 'failed', next_attempt: expect.any(String), last_error });
    expect(await view.takes(fixed.dn, 'pw3')).toBe(true);
  });

  test('have one manager', async () => {
    await write(role);
    const known = (await cred()).password;
    expect(await write({ ...role, password: known }, 'static-role/other')).toMatch(/^400,"svc1" is already managed.*static role "app"/);
    expect(await write({ ...role, password: known, adopt: true }, 'static-role/other')).toBe('204');
    const { password } = dataOf<{ password: string }>(await mount.read('static-cred/other'));
    expect(await takes(password)).toBe(true);
    expect(dataOf<{ status: object }>(await mount.read('static-role/app')).status).toMatchObject({ state: 'taken_over' });
    expect(await write({ password, adopt: true })).toBe('204');
    expect(await takes((await cred()).password)).toBe(true);
    const last = (await cred()).password;
    await mount.delete('static-role/app');
    expect([await takes(last), await takes(password)]).toEqual([true, false]);
  });

  describe('in the configuration', () => {
    const manager = { url: '', binddn: managerDn, bindpass: managerPassword };
    beforeEach(() => {
      manager.url = slapd.url;
    });

    test('exactly one of self_managed and bindpass is set, and binddn has no effect beside self_managed', async () => {
      expect(await write({ bindpass: managerPassword }, 'config')).toMatch(/^400,bindpass: exactly one of bindpass and self_managed/);
      expect(await write({ self_managed: false }, 'config')).toMatch(/^400,.*binddn must be set/);
      expect(await write({ self_managed: false, binddn: managerDn }, 'config')).toMatch(/^400,bindpass must be set/);
      expect(await write({ binddn: managerDn }, 'config')).toMatch(/^20.,binddn: it has no effect/);
      const { data } = await mount.read('config');
      expect(data).toMatchObject({ self_managed: true, bindpass_set: false });
      expect(data).not.toHaveProperty('root_rotation');
      expect(await write({ ...manager, self_managed: false }, 'config')).toBe('204');
      expect(await write({ self_managed: true }, 'config')).toMatch(/^400,bindpass: exactly one of bindpass and self_managed/);
      expect(await write({ self_managed: true, bindpass: '', binddn: '' }, 'config')).toBe('204');
      expect(dataOf(await mount.read('config'))).toMatchObject({ self_managed: true, bindpass_set: false, binddn: '' });
    });

    test('there is nothing to rotate but the static roles, and no referral is followed', async () => {
      expect(await write({}, 'rotate-root')).toMatch(/^400,self_managed: this mount has no service account/);
      expect(await write({ rotation_period: '24h' }, 'config')).toMatch(/^400,rotation_period and rotation_schedule rotate .*self_managed/);
      expect(await write({ referral_hosts: 'other.example' }, 'config')).toMatch(/^400,referral_hosts: .*self_managed/);
    });

    test('dynamic roles and the library need a service account, and keep the one that they have', async () => {
      const dynamic = {
        creation_ldif: `dn: uid={{.Username}},${SVC}\nobjectClass: account\nuid: {{.Username}}\n`,
        deletion_ldif: `dn: uid={{.Username}},${SVC}\nchangetype: delete\n`,
      };
      expect(await write(dynamic, 'role/app')).toMatch(/^400,self_managed: this mount has no service account/);
      expect(await write({ service_account_names: 'svc2' }, 'library/set')).toMatch(/^400,self_managed: this mount has no service account/);
      await mount.write('config', { ...manager, self_managed: false });
      expect(await write(dynamic, 'role/app')).toMatch(/^20/);
      expect(await write({ self_managed: true, bindpass: '' }, 'config')).toMatch(/^400,self_managed: the dynamic role "app" needs/);
      await mount.delete('role/app');
      expect(await write({ self_managed: true, bindpass: '' }, 'config')).toMatch(/^20/);
    });

    test('a new address is refused without sudo, since the passwords of accounts go there', async () => {
      await write(role);
      const policy = 'path "ldap/config" { capabilities = ["create", "update"] }';
      await mount.call('update', 'sys/policies/acl/writer', { data: { policy } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
      const moved = /^400,self_managed: the passwords of static roles would be sent to what is new \(url\)/;
      expect(await write({ url: 'ldap://127.0.0.1:1' }, 'config', token)).toMatch(moved);
      expect(await write({ ...manager, url: 'ldap://127.0.0.1:1', self_managed: false }, 'config', token)).toMatch(moved);
      expect(await write({ request_timeout: '10s' }, 'config', token)).toBe('204');
      expect(await write({ url: slapd.url.replace('127.0.0.1', 'localhost') }, 'config')).toBe('204');
      expect(await write({}, 'rotate-role/app')).toBe('204');
    });

    test('config/test logs the account in, whose password it shows nowhere', async () => {
      const tried = async (data: Record<string, unknown>) => {
        const answer = await mount.write('config/test', data);
        expect(JSON.stringify(answer)).not.toMatch(secrets);
        const { ok, steps, user_dn } = dataOf<{ ok: boolean; steps: { step: string; ok: boolean }[]; user_dn?: string }>(answer);
        return [ok, steps.map(({ step }) => step).join(), user_dn];
      };
      expect(await tried({})).toEqual([true, 'connect', undefined]);
      expect(await tried({ dn, password: 'in-use-today' })).toEqual([true, 'connect,account bind,user search', dn]);
      expect(await tried({ dn, password: 'wrong-7Hy' })).toEqual([false, 'connect,account bind', undefined]);
      expect(await write({ dn }, 'config/test')).toMatch(/^400,password: with self_managed the account logs in/);
      expect(await write({ password: 'in-use-today' }, 'config/test')).toMatch(/^400,password: whose it is/);
      expect(await write({ username: 'svc1', password: 'in-use-today' }, 'config/test')).toMatch(/^400,dn: /);
      const managed = { ...manager, self_managed: false, dn, password: 'in-use-today' };
      expect(await write(managed, 'config/test')).toMatch(/^400,password: it is used with self_managed alone/);
    });

    test('roles of a service account go on by themselves, where their password is known', async () => {
      await mount.close();
      const served = await startSlapd(withManager);
      const own = new DirectoryView(served);
      mount = await mountForTest(ldapSecrets, { path: 'ldap' });
      try {
        await mount.write('config', { ...manager, url: served.url });
        const { password: _known, ...plain } = role;
        await mount.write('static-role/app', plain);
        await mount.write('static-role/unknown', { ...plain, username: 'svc2', dn: `uid=svc2,${SVC}`, skip_import_rotation: true });
        await mount.write('config', { self_managed: true, bindpass: '' });
        expect(await write({}, 'rotate-role/app')).toBe('204');
        expect(await own.takes(dn, (await cred()).password)).toBe(true);
        expect(await write({}, 'rotate-role/unknown')).toMatch(/^400,password: it is not known, and this mount is self_managed/);
        expect(await write({ password: 'pw2' }, 'static-role/unknown')).toBe('204');
        expect(await write({}, 'rotate-role/unknown')).toBe('204');
        await mount.write('config', { self_managed: false, bindpass: managerPassword });
        expect(await write({}, 'rotate-role/unknown')).toBe('204');
        expect(await write({ password: 'pw2' }, 'static-role/unknown')).toMatch(/^400,password has no effect on updates/);
      } finally {
        own.close();
        await served.stop();
      }
    });

    test('a service account whose password only this server knew is named where it is given up', async () => {
      await mount.close();
      const served = await startSlapd(withManager);
      mount = await mountForTest(ldapSecrets, { path: 'ldap' });
      try {
        await mount.write('config', { ...manager, url: served.url });
        await mount.write('rotate-root');
        expect(await write({ self_managed: true, bindpass: '' }, 'config')).toMatch(
          /the password of cn=manager,.* was rotated, and the new one/,
        );
      } finally {
        await served.stop();
      }
    });
  });
});

describeWithSlapd('accounts under a policy for passwords, which change their own', () => {
  test('send the password that they replace, and are rotated', async () => {
    const policy = 'cn=policy,dc=example,dc=org';
    const slapd = await startSlapd({
      modules: ['ppolicy'],
      config: `${ownRights}\noverlay ppolicy\nppolicy_default "${policy}"\nppolicy_hash_cleartext`,
      ldif: `dn: ${policy}\nobjectClass: device\nobjectClass: pwdPolicy\ncn: policy\npwdAttribute: userPassword\npwdSafeModify: TRUE\npwdAllowUserChange: TRUE\n`,
    });
    const view = new DirectoryView(slapd);
    const mount = await mountForTest(ldapSecrets, { path: 'ldap' });
    try {
      await view.setPassword(dn, 'in-use-today');
      expect((await view.entry(dn))!.values('userPassword')[0]).toMatch(/^\{SSHA\}/);
      await mount.write('config', { url: slapd.url, self_managed: true });
      await mount.write('static-role/app', role);
      const first = dataOf<{ password: string }>(await mount.read('static-cred/app')).password;
      await mount.write('rotate-role/app');
      const second = dataOf<{ password: string }>(await mount.read('static-cred/app')).password;
      expect([await view.takes(dn, second), await view.takes(dn, first), await view.takes(dn, 'in-use-today')]).toEqual([
        true,
        false,
        false,
      ]);
    } finally {
      await mount.close();
      view.close();
      await slapd.stop();
    }
  });
});
