import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, slapdMissing, startSlapd, type Slapd } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

const BINDPASS = 'manager-of-the-browser-test';
const MANAGER = 'cn=manager,dc=example,dc=org';

/** Set up a connection or a login, and know that it works before anybody uses it. */
describeWhere(noChromium ?? slapdMissing, 'setting up a directory', () => {
  let slapd: Slapd;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [slapd, server, browser] = await Promise.all([
      startSlapd({
        ldif: `dn: ${MANAGER}\nobjectClass: person\ncn: manager\nsn: manager\nuserPassword: ${BINDPASS}\n`,
        config: `access to * by dn.exact="${MANAGER}" manage by anonymous auth by self write by * read`,
      }),
      ConsoleServer.start(),
      ConsoleBrowser.start(),
    ]);
    await server.set('POST', 'sys/mounts/corp', { type: 'ldap' });
    await server.set('POST', 'sys/auth/staff', { type: 'ldap' });
    tab = await browser.tab(server.origin);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await slapd?.stop();
  });

  const field = (name: string) => tab.page.getByLabel(name, { exact: true });
  const stages = async (): Promise<string[]> =>
    (await tab.page.getByRole('list', { name: 'Stages of the test' }).getByRole('listitem').allInnerTexts()).map((text) =>
      text
        .split('\n')
        .slice(0, 2)
        .map((line) => line.trim())
        .join(' ')
        .replace(/ · \d+ ms$/, ''),
    );

  test('a connection is tried beside its form before anything is saved, and the first stage that fails explains', async () => {
    await tab.login(server.rootToken, '/ldap/corp/config');
    await tab.page.getByText('Nothing is configured yet').waitFor();
    await field('URL').fill(slapd.url);
    await field('Bind DN').fill(MANAGER);
    await field('Bind password').fill('a wrong one');
    await field('User DN').fill('ou=svc,dc=example,dc=org');
    await field('User attribute').fill('uid');
    await field('Username').fill('svc1');
    await tab.page.getByRole('button', { name: 'Test these settings' }).click();
    await tab.page.getByText('Failed at “service bind”.').waitFor();
    expect(await stages()).toEqual(['connect passed', 'service bind failed', 'user search · not reached', 'password · not reached']);
    await tab.page.getByText('Invalid Credentials').waitFor();
    await look(tab, 'directory-test-failed');
    await field('Bind password').fill(BINDPASS);
    await tab.page.getByRole('button', { name: 'Test these settings' }).click();
    await tab.page.getByText(/^All 3 stages passed in \d+ ms\. Not saved yet\.$/).waitFor();
    await tab.page.getByText('uid=svc1,ou=svc,dc=example,dc=org').waitFor();
    expect((await server.ask('GET', 'corp/config')).status).toBe(404);
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Saved.', { exact: true }).waitFor();
    expect((await server.set('GET', 'corp/config')).data).toMatchObject({ url: slapd.url, binddn: MANAGER, bindpass_set: true });
    expect(tab.faults).toEqual([]);
  });

  test('only what was touched is sent: what is stored stays', async () => {
    await server.set('POST', 'corp/config', { ttl: '2h' });
    await tab.open('/ldap/corp/config');
    await field('User attribute').fill('cn');
    await tab.page.getByText('Unsaved: User attribute').waitFor();
    const [request] = await Promise.all([
      tab.page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/v1/corp/config')),
      tab.page.getByRole('button', { name: 'Save' }).click(),
    ]);
    expect(request.postDataJSON()).toEqual({ userattr: 'cn' });
    await tab.page.getByText('Saved.', { exact: true }).waitFor();
    expect((await server.set('GET', 'corp/config')).data).toMatchObject({ userattr: 'cn', ttl: 7_200 });
    await server.set('POST', 'corp/config', { userattr: 'uid' });
  });

  test('a login is tried stage by stage as its user, with groups and policies, before it is saved', async () => {
    await tab.open('/auth/staff/config');
    await field('URL').fill(slapd.url);
    await field('Bind DN').fill(MANAGER);
    await field('Bind password').fill(BINDPASS);
    await field('User DN').fill('ou=people,dc=example,dc=org');
    await field('User attribute').fill('uid');
    await field('Group DN').fill('ou=groups,dc=example,dc=org');
    await server.set('POST', 'auth/staff/groups/eng', { policies: 'default' });
    await field('Username').fill('user7');
    await field('Password').fill('not the password');
    await tab.page.getByRole('button', { name: 'Test these settings' }).click();
    await tab.page.getByText('Failed at “user bind”.').waitFor();
    expect((await stages()).at(-1)).toBe('policies · not reached');
    await field('Password').fill('pw7');
    await tab.page.getByRole('button', { name: 'Test these settings' }).click();
    await tab.page.getByText(/^All 6 stages passed/).waitFor();
    expect(await stages()).toEqual(
      ['connect', 'service bind', 'user search', 'user bind', 'group search', 'policies'].map((stage) => `${stage} passed`),
    );
    await tab.page.getByRole('heading', { name: 'What a login would give' }).waitFor();
    await tab.page.getByText('(uid=user7)').waitFor();
    await look(tab, 'login-test-passed');
    expect((await server.ask('POST', 'auth/staff/login/user7', { password: 'pw7' })).status).not.toBe(200);
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Saved.', { exact: true }).waitFor();
    const { auth } = await server.set('POST', 'auth/staff/login/user7', { password: 'pw7' });
    expect(auth!.client_token).not.toBe('');
    expect(tab.faults).toEqual([]);
  });

  test('the passwords that were typed are nowhere after the save', async () => {
    await tab.page.getByText('Saved.', { exact: true }).waitFor();
    await field('Password').fill('');
    expect(await tab.places(BINDPASS)).toEqual([]);
    expect(await tab.places('not the password')).toEqual([]);
  });

  test('a name that was locked by wrong passwords is unlocked', async () => {
    for (let count = 0; count < 6; count += 1) await server.ask('POST', 'auth/staff/login/user8', { password: 'guess' });
    await tab.open('/auth/staff/locked');
    await tab.page.getByRole('button', { name: 'Unlock user8' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Unlock user8' }).click();
    await tab.page.getByText('No name is locked.').waitFor();
    await server.set('POST', 'auth/staff/login/user8', { password: 'pw8' });
  });

  test('an account of a set is borrowed, seen with its time, and returned', async () => {
    await server.set('POST', 'corp/library/batch', { service_account_names: ['svc2'], ttl: '1h' });
    await tab.open('/ldap/corp/library/batch');
    await tab.page.getByRole('row', { name: /svc2 free/ }).waitFor();
    await tab.page.getByRole('button', { name: 'Borrow an account' }).click();
    await tab.page.getByRole('heading', { name: 'Shown once' }).waitFor();
    await tab.page.getByRole('row', { name: /svc2 lent to you in (1 h|59 min)/ }).waitFor();
    await tab.page.getByText(/None is free\. Free at the latest in/).waitFor();
    const waiting = server.ask('POST', 'corp/library/batch/check-out', { wait: '60s' });
    await tab.page.getByRole('row', { name: /^1 you/ }).waitFor();
    await look(tab, 'library-board');
    await tab.page.getByRole('button', { name: 'Return the account' }).click();
    expect((await waiting).status).toBe(200);
    await tab.page.getByText(/Nobody waits/).waitFor();
    expect(tab.faults).toEqual([]);
  });

  test('roles and sets in folders are found level by level, and their pages work as those of others', async () => {
    await server.set('POST', 'corp/static-role/org/team/app', { username: 'svc3', rotation_period: '24h' });
    await server.set('POST', 'corp/library/org/night', { service_account_names: ['svc4'] });
    await tab.open('/ldap/corp/static');
    await tab.page.getByRole('link', { name: 'org/', exact: true }).click();
    await tab.page.getByRole('link', { name: 'team/', exact: true }).click();
    await look(tab, 'folder-of-roles');
    await tab.page.getByRole('link', { name: 'org/team/app', exact: true }).click();
    await tab.page.getByRole('heading', { level: 1, name: 'org/team/app', exact: true }).waitFor();
    const before = await server.ask('GET', 'corp/static-cred/org/team/app');
    const rotated = tab.page.waitForResponse((response) => response.url().endsWith('/rotate-role/org/team/app'));
    await tab.page.getByRole('button', { name: 'Rotate now' }).click();
    expect((await rotated).status()).toBe(204);
    expect((await server.ask('GET', 'corp/static-cred/org/team/app')).data.last_password).toBe(before.data.password);
    await tab.open('/ldap/corp/library?folder=org/');
    await tab.page.getByRole('link', { name: 'org/night', exact: true }).click();
    await tab.page.getByRole('button', { name: 'Borrow an account' }).click();
    await tab.page.getByRole('heading', { name: 'Shown once' }).waitFor();
    await tab.page.getByRole('button', { name: 'Return the account' }).click();
    await tab.page.getByRole('row', { name: /svc4 free/ }).waitFor();
    expect(tab.faults).toEqual([]);
  });
});
