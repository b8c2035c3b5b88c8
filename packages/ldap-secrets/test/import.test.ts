import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { dataOf, DirectoryView, mountLdap, SVC, withManager } from './ldap-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const dn = `uid=svc1,${SVC}`;

describeWithSlapd('a static role made without a rotation', () => {
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
    mount = await mountLdap(slapd);
    await view.setPassword(dn, 'known-today');
  });
  afterEach(async () => mount.close());

  const role = { username: 'svc1', rotation_period: '24h' };
  const write = async (data: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', 'ldap/static-role/app', { data });
    return { status, errors: errors?.join() };
  };
  const refused = (text: string) => ({ status: 400, errors: expect.stringContaining(text) });
  const cred = async () => dataOf<{ password: string; last_password: string }>(await mount.read('static-cred/app'));

  test('hands out the password that it was given, which a login has proven, until the plan rotates it', async () => {
    expect(await write({ ...role, skip_import_rotation: true, password: 'known-today' })).toMatchObject({ status: 204 });
    expect(await cred()).toMatchObject({ password: 'known-today', last_password: '' });
    expect(await view.takes(dn, 'known-today')).toBe(true);
    await mount.advance('24h');
    const { password, last_password } = await cred();
    expect([last_password, await view.takes(dn, password), await view.takes(dn, 'known-today')]).toEqual(['known-today', true, false]);
  });

  test('stores nothing where the directory does not take the password, unless nobody should try it', async () => {
    expect(await write({ ...role, skip_import_rotation: true, password: 'of-another-day' })).toEqual(
      refused('password: the directory does not take it for the account "svc1"'),
    );
    expect((await mount.call('read', 'ldap/static-role/app')).status).toBe(404);
    expect(await write({ ...role, skip_import_rotation: true, password: 'of-another-day', verify: false })).toMatchObject({ status: 204 });
    expect((await cred()).password).toBe('of-another-day');
  });

  test('needs skip_import_rotation for a password, and takes none later', async () => {
    expect(await write({ ...role, password: 'known-today' })).toEqual(refused('stored only with skip_import_rotation=true'));
    expect(await write({ ...role, skip_import_rotation: true, password: '' })).toEqual(refused('password: it is empty'));
    await write({ ...role, skip_import_rotation: true, password: 'known-today' });
    expect(await write({ password: 'known-today' })).toEqual(refused('password has no effect on updates'));
  });

  test('follows the default of the configuration, which skips the rotation of every import', async () => {
    await mount.write('config', { skip_static_role_import_rotation: true });
    expect(await write({ ...role, password: 'known-today' })).toMatchObject({ status: 204 });
    expect((await cred()).password).toBe('known-today');
  });
});

describeWithSlapd('the password policy of a static role', () => {
  let slapd: Slapd;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd(withManager);
  });
  afterAll(async () => slapd.stop());
  beforeEach(async () => {
    mount = await mountLdap(slapd);
    for (const [name, charset] of Object.entries({ digits: '0123456789', vowels: 'aeiou' })) {
      const policy = `length = 12\nrule "charset" { charset = "${charset}" }`;
      await mount.call('update', `sys/policies/password/${name}`, { data: { policy } });
    }
    await mount.write('config', { password_policy: 'digits' });
  });
  afterEach(async () => mount.close());

  const passwordOf = async (name: string): Promise<string> =>
    dataOf<{ password: string }>(await mount.read(`static-cred/${name}`)).password;

  test("comes before the configuration's, from the first rotation on; empty, it is the configuration's again", async () => {
    await mount.write('static-role/a', { username: 'svc1', rotation_period: '1h', password_policy: 'vowels' });
    await mount.write('static-role/b', { username: 'svc2', rotation_period: '1h' });
    expect(await passwordOf('a')).toMatch(/^[aeiou]{12}$/);
    expect(await passwordOf('b')).toMatch(/^\d{12}$/);
    expect(dataOf(await mount.read('static-role/a'))).toMatchObject({ password_policy: 'vowels' });
    await mount.write('static-role/a', { password_policy: '' });
    await mount.write('rotate-role/a', {});
    expect(await passwordOf('a')).toMatch(/^\d{12}$/);
    expect(dataOf(await mount.read('static-role/a'))).not.toHaveProperty('password_policy');
  });

  test('that does not exist is warned of where it comes later, and refused where it is needed at once', async () => {
    await mount.write('static-role/a', { username: 'svc1', rotation_period: '1h' });
    const later = await mount.call('update', 'ldap/static-role/a', { data: { password_policy: 'missing' } });
    expect(later.warnings?.join()).toContain('password_policy: no password can be made by "missing"');
    const atOnce = await mount.call('update', 'ldap/static-role/b', {
      data: { username: 'svc2', rotation_period: '1h', password_policy: 'missing' },
    });
    expect({ status: atOnce.status, errors: atOnce.errors?.join() }).toEqual({ status: 400, errors: expect.stringContaining('"missing"') });
  });
});
