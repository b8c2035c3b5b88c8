import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDirectory, type Directory } from '@strongroom/ldap-client';
import { describeWithSlapd, type Slapd, startSlapd } from '@strongroom/lab';
import { groups, mounted, people, serviceConfig, type MountedLdap } from './mounted.ts';

const changed = { status: 400, errors: ['1 error occurred:\n\t* failed to renew entry: policies have changed, not renewing\n\n'] };
const gone = { status: 400, errors: [expect.stringContaining('failed to renew entry: the user is no longer in the directory')] };
const barred = { status: 400, errors: [expect.stringContaining('failed to renew entry: the user may no longer log in')] };

describeWithSlapd('renewal of a directory login', () => {
  let slapd: Slapd;
  let directory: Directory;
  let mount: MountedLdap;

  beforeAll(async () => {
    slapd = await startSlapd({ modules: ['ppolicy'], config: 'overlay ppolicy' });
    directory = createDirectory({ urls: [slapd.url] });
  });
  afterAll(async () => {
    directory?.close();
    await slapd?.stop();
  });

  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', { ...serviceConfig(slapd), token_ttl: '20m', token_policies: 'base' });
    await mount.write('groups/eng', { policies: 'engpol' });
  });
  afterEach(() => mount.close());

  const asAdmin: (work: Parameters<Directory['withServiceConnection']>[1]) => Promise<unknown> = (work) =>
    directory.withServiceConnection({ dn: slapd.adminDn, password: slapd.adminPassword }, work);
  const tokenOf = async (n: number): Promise<string> => (await mount.login(`user${n}`, { password: `pw${n}` })).auth!.client_token;

  const person = (uid: string) => [
    { attribute: 'objectClass', values: ['inetOrgPerson'] },
    ...['uid', 'cn', 'sn'].map((attribute) => ({ attribute, values: [uid] })),
    { attribute: 'userPassword', values: ['first'] },
  ];

  test('a user who is still there keeps the token for another term, by the lifetimes that are configured now', async () => {
    const token = await tokenOf(1);
    await mount.advance('10m');
    expect((await mount.renew(token)).auth).toMatchObject({ lease_duration: 1200, policies: ['base', 'default', 'engpol'] });
    await mount.write('config', { token_ttl: '5m' });
    expect((await mount.renew(token)).auth).toMatchObject({ lease_duration: 300 });
  });

  test('a changed password does not matter, since no password was kept', async () => {
    const dn = `uid=fickle,${people}`;
    await asAdmin((connection) => connection.add(dn, person('fickle')));
    const { auth } = await mount.login('fickle', { password: 'first' });
    await asAdmin((connection) => connection.modify(dn, [{ operation: 'replace', attribute: 'userPassword', values: ['second'] }]));
    expect(await mount.renew(auth!.client_token)).toMatchObject({ status: 200 });
  });

  test('changed policies refuse the renewal, and the token lives on', async () => {
    const token = await tokenOf(1);
    await mount.write('users/user1', { policies: 'more' });
    expect(await mount.renew(token)).toMatchObject(changed);
    expect(await mount.call('read', 'auth/token/lookup-self', { token })).toMatchObject({ status: 200 });
    await mount.delete('users/user1');
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
  });

  test('a group left in the directory counts at the next renewal', async () => {
    const token = await tokenOf(2);
    const member = { attribute: 'member', values: [`uid=user2,${people}`] };
    await asAdmin((connection) => connection.modify(`cn=eng,${groups}`, [{ operation: 'delete', ...member }]));
    expect(await mount.renew(token)).toMatchObject(changed);
    await asAdmin((connection) => connection.modify(`cn=eng,${groups}`, [{ operation: 'add', ...member }]));
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
  });

  test('a user who left, or whose name belongs to somebody else now, cannot renew', async () => {
    const dn = `uid=leaver,${people}`;
    await asAdmin((connection) => connection.add(dn, person('leaver')));
    const { auth } = await mount.login('leaver', { password: 'first' });
    expect(await mount.renew(auth!.client_token)).toMatchObject({ status: 200 });
    await asAdmin((connection) => connection.delete(dn));
    expect(await mount.renew(auth!.client_token)).toMatchObject(gone);
    await asAdmin((connection) => connection.add(dn, person('leaver')));
    expect(await mount.renew(auth!.client_token)).toMatchObject(barred);
  });

  test('a user locked in OpenLDAP cannot renew until unlocked', async () => {
    const token = await tokenOf(3);
    const lock = { attribute: 'pwdAccountLockedTime', values: ['000001010000Z'] };
    const dn = `uid=user3,${people}`;
    await asAdmin((connection) => connection.modify(dn, [{ operation: 'replace', ...lock }]));
    expect(await mount.renew(token)).toMatchObject(barred);
    expect(mount.lines.filter(({ message }) => message.startsWith('the renewal'))).toMatchObject([
      { level: 'info', fields: { step: 'account', name: dn, error: 'the account is locked' } },
    ]);
    await asAdmin((connection) => connection.modify(dn, [{ operation: 'delete', attribute: lock.attribute, values: [] }]));
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
  });

  test('a lock of OpenLDAP is over when its pwdLockoutDuration has passed, though the directory leaves it on the entry until the next bind', async () => {
    const policy = 'cn=short locks,dc=example,dc=org';
    const values = {
      objectClass: ['device', 'pwdPolicy'],
      cn: ['short locks'],
      pwdAttribute: ['userPassword'],
      pwdLockoutDuration: ['300'],
    };
    await asAdmin((connection) =>
      connection.add(
        policy,
        Object.entries(values).map(([attribute, of]) => ({ attribute, values: of })),
      ),
    );
    const dn = `uid=user4,${people}`;
    const set = async (attribute: string, ...of: string[]) =>
      asAdmin((connection) => connection.modify(dn, [{ operation: 'replace', attribute, values: of }]));
    const token = await tokenOf(4);
    await set(
      'pwdAccountLockedTime',
      `${mount.clock
        .now()
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')}`,
    );
    await mount.advance('6m');
    // Nobody says how long it lasts.
    expect(await mount.renew(token)).toMatchObject(barred);
    await set('pwdPolicySubentry', policy);
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
    expect((await mount.write('config/test', { username: 'user4' })).data).toMatchObject({ ok: true });
    await set(
      'pwdAccountLockedTime',
      `${mount.clock
        .now()
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')}`,
    );
    expect(await mount.renew(token)).toMatchObject(barred);
    await set('pwdAccountLockedTime', '000001010000Z');
    await mount.advance('6m');
    expect(await mount.renew(token)).toMatchObject(barred);
    await set('pwdAccountLockedTime');
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
  });

  test('while the directory is away a renewal fails as an outage, and the token lives on', async () => {
    const token = await tokenOf(1);
    await mount.write('config', { url: 'ldap://127.0.0.1:1' });
    expect(await mount.renew(token)).toMatchObject({ status: 500, errors: [expect.stringContaining('failed to connect to LDAP server')] });
    expect(await mount.call('read', 'auth/token/lookup-self', { token })).toMatchObject({ status: 200 });
  });

  test('without a service account the mappings alone decide, by the groups of the login', async () => {
    await mount.write('config', { binddn: '', bindpass: '' });
    const token = await tokenOf(1);
    await mount.write('config', { url: 'ldap://127.0.0.1:1' });
    expect((await mount.renew(token)).auth).toMatchObject({ policies: ['base', 'default', 'engpol'] });
    await mount.write('groups/eng', { policies: 'other' });
    expect(await mount.renew(token)).toMatchObject(changed);
  });

  test('with discoverdn alone the user must still be found, and the groups are those of the login', async () => {
    await mount.write('config', { binddn: '', bindpass: '', discoverdn: true });
    const token = await tokenOf(1);
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
    await mount.write('config', { userfilter: '(&({{.UserAttr}}={{.Username}})(mail=nobody))' });
    expect(await mount.renew(token)).toMatchObject(gone);
  });
});
