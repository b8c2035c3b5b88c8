import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { dataOf, DirectoryView, mountLdap, SVC, withManager } from './ldap-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('names with folders', () => {
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
  });
  afterEach(async () => mount.close());

  const keys = async (path: string): Promise<string[]> => {
    const { data, status } = await mount.call('list', `ldap/${path}`);
    return status === 404 ? [] : (data as { keys: string[] }).keys;
  };
  const refusal = async (path: string, data: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', `ldap/${path}`, { data });
    return { status, errors: errors?.join() };
  };

  test('a static role has its credential, its rotation and its status below its whole name', async () => {
    await mount.write('static-role/org/Team/app', { username: 'svc1', rotation_period: '24h' });
    const first = dataOf<{ password: string }>(await mount.read('static-cred/org/team/APP')).password;
    expect(await view.takes(`uid=svc1,${SVC}`, first)).toBe(true);
    await mount.write('rotate-role/org/team/app', {});
    const { password, last_password } = dataOf<{ password: string; last_password: string }>(await mount.read('static-cred/org/team/app'));
    expect([last_password, await view.takes(`uid=svc1,${SVC}`, password)]).toEqual([first, true]);
    await mount.advance('24h');
    expect(dataOf<{ last_password: string }>(await mount.read('static-cred/org/team/app')).last_password).toBe(password);
    await mount.delete('static-role/org/team/app');
    expect((await mount.call('read', 'ldap/static-role/org/team/app')).status).toBe(404);
  });

  test('a list shows one level: names, and folders with a slash, whether a name and a folder are called alike', async () => {
    const role = { username: 'svc1', rotation_period: '24h', skip_import_rotation: true };
    for (const [name, username] of Object.entries({ org: 'svc1', 'org/a': 'svc2', 'org/team/b': 'svc3', z: 'svc4' }))
      await mount.write(`static-role/${name}`, { ...role, username });
    expect(await keys('static-role')).toEqual(['org', 'org/', 'z']);
    expect(await keys('static-role/')).toEqual(['org', 'org/', 'z']);
    expect(await keys('static-role/org')).toEqual(['a', 'team/']);
    expect(await keys('static-role/org/')).toEqual(['a', 'team/']);
    expect(await keys('static-role/ORG/team')).toEqual(['b']);
    expect(await keys('static-role/z')).toEqual([]);
    const page = await mount.call('list', 'ldap/static-role/org', { data: { after: 'a', limit: 1 } });
    expect(page.data).toEqual({ keys: ['team/'] });
  });

  test('a set is lent, returned and shown below its whole name, and is another one than those beside it', async () => {
    await mount.write('library/org/ops', { service_account_names: 'svc1' });
    await mount.write('library/org/ops/night', { service_account_names: 'svc2' });
    const lent = await mount.call('update', 'ldap/library/org/ops/night/check-out', {});
    expect(lent.data).toMatchObject({ service_account_name: 'svc2' });
    const shown = dataOf<Record<string, { available: boolean }>>(await mount.read('library/org/ops/night/status'));
    expect(shown).toMatchObject({ svc2: { available: false, borrower_name: 'root' } });
    expect(await mount.read('library/org/ops/status')).toMatchObject({ data: { svc1: { available: true } } });
    expect((await mount.call('update', 'ldap/library/manage/org/ops/night/check-in', {})).data).toEqual({ check_ins: ['svc2'] });
    await mount.call('update', 'ldap/library/org/ops/check-out', {});
    expect((await mount.call('update', 'ldap/library/org/ops/check-in', {})).data).toEqual({ check_ins: ['svc1'] });
    expect(await mount.read('library/org/ops/waiting')).toMatchObject({ data: { available: 1, waiting: [] } });
    expect(await keys('library/org')).toEqual(['ops', 'ops/']);
  });

  test('a dynamic role makes accounts, whose names have no slash', async () => {
    await mount.write('role/org/app', {
      creation_ldif: `dn: uid={{.Username}},${SVC}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: {{.Username}}\nuserPassword: {{.Password}}\n`,
      deletion_ldif: `dn: uid={{.Username}},${SVC}\nchangetype: delete\n`,
    });
    expect((await mount.call('update', 'ldap/role/org/app/preview', {})).status).toBe(200);
    const made = await mount.call('read', 'ldap/creds/org/app');
    const { username, password } = dataOf<{ username: string; password: string }>(made);
    expect(username).toMatch(/_org-app_/);
    expect(await view.takes(`uid=${username},${SVC}`, password)).toBe(true);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: made.leaseId } });
    expect(await view.takes(`uid=${username},${SVC}`, password)).toBe(false);
    expect(await keys('role')).toEqual(['org/']);
  });

  test('a policy grants a folder of credentials, and nothing beside it', async () => {
    for (const [name, username] of Object.entries({ 'org/a': 'svc1', 'other/b': 'svc2' }))
      await mount.write(`static-role/${name}`, { username, rotation_period: '24h' });
    await mount.call('update', 'sys/policies/acl/team', { data: { policy: 'path "ldap/static-cred/org/*" { capabilities = ["read"] }' } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['team'] } });
    const token = made.auth!.client_token;
    const statusOf = async (path: string): Promise<number> => (await mount.call('read', `ldap/${path}`, { token })).status;
    expect([await statusOf('static-cred/org/a'), await statusOf('static-cred/other/b')]).toEqual([200, 403]);
  });

  test('a name whose paths would be those of another thing is refused, with the word that is in the way', async () => {
    for (const [path, word] of [
      ['library/a/check-out/b', '/check-out'],
      ['library/manage/ops', 'manage/ at the beginning'],
    ] as const) {
      expect(await refusal(path, { service_account_names: 'svc1' })).toEqual({ status: 400, errors: expect.stringContaining(word) });
    }
    // Such a word at the end leads to the path itself.
    expect((await refusal('library/org/status', { service_account_names: 'svc1' })).status).toBe(405);
    const ldif = { creation_ldif: `dn: uid={{.Username}},${SVC}\nobjectClass: account\nuid: {{.Username}}\n` };
    expect(await refusal('role/org/preview/x', ldif)).toEqual({ status: 400, errors: expect.stringContaining('/preview') });
    expect(await keys('library')).toEqual([]);
    for (const path of ['static-role/org//app', 'static-role/org/-app', 'static-role/org/../app'])
      expect(
        (await mount.call('update', `ldap/${path}`, { data: { username: 'svc1', rotation_period: '1h' } })).status,
      ).toBeGreaterThanOrEqual(400);
    expect(await keys('static-role')).toEqual([]);
  });
});
