import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, freePorts, peopleBelow, referralEntry, startSlapd, type Slapd } from '@strongroom/lab';
import { dataOf, DirectoryView, managerDn, managerPassword, mountLdap, withManager } from './ldap-mount.ts';

const root = 'dc=example,dc=org';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('accounts to which a referral leads', () => {
  let first: Slapd;
  let second: Slapd;
  let replica: Slapd;
  let dead: number;
  let view: DirectoryView;
  let mount: TestMount;

  beforeAll(async () => {
    [dead] = (await freePorts(1)) as [number];
    second = await startSlapd({
      ...withManager,
      ldif: `${withManager.ldif}\n${peopleBelow('away', root, { far1: 'first', far2: 'first', far3: 'first' })}`,
    });
    const to = `ldap://127.0.0.1:${second.port}/ou=away,${root}`;
    first = await startSlapd({
      ...withManager,
      ldif: [
        withManager.ldif,
        referralEntry('ou=away', `ou=svc,${root}`, [to]),
        referralEntry('ou=away', root, [to]),
        peopleBelow('broken', root, {}),
        referralEntry('ou=down', `ou=broken,${root}`, [`ldap://127.0.0.1:${dead}/ou=away,${root}`]),
      ].join('\n'),
    });
    replica = await startSlapd({
      ldif: withManager.ldif,
      config: `${withManager.config}\nsyncrepl rid=1 provider=${second.url} searchbase="${root}" type=refreshOnly bindmethod=simple binddn="${managerDn}" credentials=${managerPassword} retry="3600 +"\nupdateref ${second.url}`,
    });
    view = new DirectoryView(second);
  });
  afterAll(async () => {
    view?.close();
    await Promise.all([first?.stop(), second?.stop(), replica?.stop()]);
  });
  beforeEach(async () => {
    mount = await mountLdap(first, { config: { referral_hosts: `127.0.0.1:${second.port}` } });
  });
  afterEach(async () => mount.close());

  const post = async (path: string, data: Record<string, unknown> = {}) => mount.call('update', `ldap/${path}`, { data });
  const dnOf = (uid: string): string => `uid=${uid},ou=away,${root}`;

  test.each([
    ['by its name', { username: 'far1' }],
    ['by its distinguished name', { username: 'far2', dn: dnOf('far2') }],
  ])('a static role rotates an account there, found %s, and proves the password there', async (_how, role) => {
    expect(await post('static-role/a', { ...role, rotation_period: '1h' })).toMatchObject({ status: 204 });
    const { password: made } = dataOf<{ password: string }>(await mount.read('static-cred/a'));
    expect(await view.takes(dnOf(role.username), made)).toBe(true);
    await post('rotate-role/a');
    const { password, last_password } = dataOf<{ password: string; last_password: string }>(await mount.read('static-cred/a'));
    expect(last_password).toBe(made);
    expect(await view.takes(dnOf(role.username), password)).toBe(true);
    expect(await view.takes(dnOf(role.username), made)).toBe(false);
  });

  test('a library lends an account there, and changes its password when it comes back', async () => {
    expect(await post('library/set', { service_account_names: ['far3'], ttl: '1h' })).toMatchObject({ status: 204 });
    const { password, service_account_name } = dataOf<{ password: string; service_account_name: string }>(
      await post('library/set/check-out'),
    );
    expect(service_account_name).toBe('far3');
    expect(await view.takes(dnOf('far3'), password)).toBe(true);
    expect((await post('library/set/check-in', {})).status).toBe(200);
    await mount.advance(60);
    expect(await view.takes(dnOf('far3'), password)).toBe(false);
  });

  test('a dynamic role makes and deletes an account there', async () => {
    const dn = `uid={{.Username}},ou=away,${root}`;
    await post('role/app', {
      creation_ldif: `dn: ${dn}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: {{.Username}}\nuserPassword: {{.Password}}\n`,
      deletion_ldif: `dn: ${dn}\nchangetype: delete\n`,
      default_ttl: '1h',
    });
    const answer = await mount.read('creds/app');
    const { username, password } = dataOf<{ username: string; password: string }>(answer);
    expect(await view.takes(dnOf(username), password)).toBe(true);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } });
    expect(await view.entry(dnOf(username))).toBeUndefined();
  });

  test('a rotation on a read-only replica is made at the server that it refers to', async () => {
    await mount.write('config', { url: replica.url, bindpass: managerPassword });
    expect(await post('static-role/a', { username: 'svc5', rotation_period: '1h' })).toMatchObject({ status: 204 });
    const { password } = dataOf<{ password: string }>(await mount.read('static-cred/a'));
    expect(await view.takes(`uid=svc5,ou=svc,${root}`, password)).toBe(true);
  });

  test('without the host, the refusal of a replica names the URL of the referral', async () => {
    await mount.write('config', { url: replica.url, referral_hosts: 'other.example', bindpass: managerPassword });
    const { status, errors } = await post('static-role/a', { username: 'svc6', rotation_period: '1h' });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(errors?.join()).toContain(`ldap://127.0.0.1:${second.port}`);
    expect(errors?.join()).not.toContain(managerPassword);
  });

  test('a listed host that is down is a 5xx that names it', async () => {
    await mount.write('config', { userdn: `ou=broken,${root}`, referral_hosts: `127.0.0.1:${dead}`, bindpass: managerPassword });
    const { status, errors } = await post('static-role/a', { username: 'far1', rotation_period: '1h' });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(errors?.join()).toContain(`ldap://127.0.0.1:${dead}`);
    expect((await mount.call('read', 'ldap/static-role/a')).status).toBe(404);
  });

  test('an account at a host that is not listed is not found', async () => {
    await mount.write('config', { referral_hosts: '' });
    expect(await post('static-role/a', { username: 'far1', rotation_period: '1h' })).toMatchObject({ status: 400 });
  });

  test('config/test shows the server where the account was found', async () => {
    const report = dataOf<{ ok: boolean; user_dn: string; steps: { step: string; url?: string }[] }>(
      await mount.write('config/test', { username: 'far1' }),
    );
    expect(report).toMatchObject({ ok: true, user_dn: dnOf('far1') });
    expect(report.steps.find(({ step }) => step === 'user search')?.url).toBe(`ldap://127.0.0.1:${second.port}`);
  });

  test('another host for referrals sends bindpass there, so it is asked for again', async () => {
    const policy = 'path "ldap/config" { capabilities = ["update"] }';
    await mount.call('update', 'sys/policies/acl/configurer', { data: { policy } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['configurer'] } })).auth!.client_token;
    const write = async (data: Record<string, unknown>) => mount.call('update', 'ldap/config', { data, token });
    const { status, errors } = await write({ referral_hosts: 'dc9.example' });
    expect({ status, text: errors?.join() }).toEqual({ status: 400, text: expect.stringContaining('referral_hosts') });
    expect((await write({ referral_hosts: '' })).status).toBe(204);
    expect((await mount.call('update', 'ldap/config', { data: { referral_hosts: 'ldap://x' } })).status).toBe(400);
  });
});
