import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { accountTemplates, describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { dataOf, DirectoryView, managerDn, managerPassword, mountLdap, SVC, withManager } from './ldap-mount.ts';

const APP = 'ou=app,dc=example,dc=org';
const GROUP = 'cn=made,ou=groups,dc=example,dc=org';
const manager = `by dn.exact="${managerDn}"`;

/** The rules of docs/engines/ldap-secrets.md: what of them serves which part of the engine. */
const ownPassword = `
access to dn.exact="${managerDn}" attrs=userPassword
  by self =w
  by anonymous auth
access to dn.exact="${managerDn}" attrs=entry,objectClass,entryUUID
  by self read`;
const passwords = `
access to dn.children="${SVC}" attrs=userPassword
  ${manager} =w
  by anonymous auth`;
const search = `
access to dn.subtree="${SVC}" attrs=entry,uid,entryUUID
  ${manager} read`;
const dynamic = `
access to dn.exact="${APP}" attrs=children
  ${manager} write
access to dn.children="${APP}" attrs=userPassword
  ${manager} =w
  by anonymous auth
access to dn.children="${APP}"
  ${manager} write
access to dn.exact="${GROUP}" attrs=entry,member
  ${manager} write`;
const nothingElse = '\naccess to * by * none';

const ldif = [
  withManager.ldif,
  `dn: ${APP}\nobjectClass: organizationalUnit\nou: app\n`,
  `dn: ${GROUP}\nobjectClass: groupOfNames\ncn: made\nmember: cn=nobody\n`,
].join('\n');
const { creation_ldif, deletion_ldif } = accountTemplates(APP, GROUP);

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('the least rights that the documentation names', () => {
  let slapd: Slapd;
  let view: DirectoryView;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd({
      ldif,
      config: `${ownPassword}${passwords}${search}${dynamic}${nothingElse}`.trim(),
    });
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

  test('serve static roles, found by their names, and the library', async () => {
    await mount.write('static-role/a', { username: 'svc1', rotation_period: '1h' });
    await mount.write('rotate-role/a');
    const { password } = dataOf<{ password: string }>(await mount.read('static-cred/a'));
    expect(await view.takes(`uid=svc1,${SVC}`, password)).toBe(true);
    await mount.write('library/set', { service_account_names: 'svc2' });
    const lent = dataOf<{ password: string }>(await mount.write('library/set/check-out')).password;
    expect(await view.takes(`uid=svc2,${SVC}`, lent)).toBe(true);
    expect((await mount.write('library/set/check-in')).data).toEqual({ check_ins: ['svc2'] });
  });

  test('serve rotate-root', async () => {
    await mount.write('rotate-root');
    expect(await view.takes(managerDn, managerPassword)).toBe(false);
    await mount.write('static-role/a', { username: 'svc1', rotation_period: '1h' });
  });

  test('serve dynamic roles that make an entry and add it to a group', async () => {
    await mount.write('role/app', { creation_ldif, deletion_ldif, default_ttl: '1h' });
    const answer = await mount.read('creds/app');
    const { distinguished_names, password } = dataOf<{ distinguished_names: string[]; password: string }>(answer);
    expect(await view.takes(distinguished_names[0]!, password)).toBe(true);
    expect((await view.entry(GROUP))!.values('member')).toContain(distinguished_names[0]);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } });
    expect(await view.below(APP)).toEqual([]);
    expect((await view.entry(GROUP))!.values('member')).toEqual(['cn=nobody']);
  });

  test('serve the recognition of an account that a mount with other rights manages', async () => {
    await mount.write('static-role/a', { username: 'svc1', rotation_period: '1h' });
    await mount.write('rotate-root');
    await mount.call('update', 'sys/mounts/two', { data: { type: 'ldap' } });
    const admin = { url: slapd.url, binddn: slapd.adminDn, bindpass: slapd.adminPassword, userdn: 'dc=example,dc=org', userattr: 'uid' };
    await mount.call('update', 'two/config', { data: admin });
    for (const [username, dn, by] of [
      ['svc1', '', 'static role "a" of ldap/'],
      ['manager', managerDn, 'the root credential of ldap/'],
    ]) {
      const { errors } = await mount.call('update', 'two/static-role/b', { data: { username, dn, rotation_period: '1h' } });
      expect(errors!.join()).toContain(`${by} changes its password`);
    }
  });

  test('serve nothing else: accounts elsewhere are not even seen', async () => {
    const dn = 'uid=user1,ou=people,dc=example,dc=org';
    const answer = await mount.call('update', 'ldap/static-role/b', { data: { username: 'user1', dn, rotation_period: '1h' } });
    expect(answer.errors!.join()).toContain('expected one matching entry, but received 0');
    expect((await mount.call('read', 'ldap/static-role/b')).status).toBe(404);
    expect((await view.entry(dn))!.values('userPassword')).toEqual(['pw1']);
  });
});

describeWithSlapd('with one of the rights fewer', () => {
  const rights = { ownPassword, passwords, search, dynamic };
  const calls: Record<keyof typeof rights, [string, Record<string, unknown>]> = {
    ownPassword: ['rotate-root', {}],
    passwords: ['static-role/a', { username: 'svc1', rotation_period: '1h' }],
    search: ['static-role/a', { username: 'svc1', rotation_period: '1h' }],
    dynamic: ['creds/app', {}],
  };

  test.each(Object.keys(rights) as (keyof typeof rights)[])('what needs it fails: %s', async (missing) => {
    // To log in is not one of the rights that are in question.
    const login = `access to attrs=userPassword by anonymous auth by * break`;
    const { [missing]: _left, ...others } = rights;
    const slapd = await startSlapd({ ldif, config: `${login}${Object.values(others).join('')}${nothingElse}` });
    const mount = await mountLdap(slapd);
    try {
      await mount.write('role/app', { creation_ldif, deletion_ldif, default_ttl: '1h' });
      const [path, data] = calls[missing];
      const answer = await mount.call(path.startsWith('creds') ? 'read' : 'update', `ldap/${path}`, { data });
      expect({ status: answer.status, errors: answer.errors?.join() }).toEqual({
        status: expect.any(Number),
        errors: expect.stringMatching(/Insufficient Access Rights|No Such Object|received 0/),
      });
    } finally {
      await mount.close();
      await slapd.stop();
    }
  });
});
