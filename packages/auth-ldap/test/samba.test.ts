import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { adGroup, adUser, describeWithSamba, type SambaServer, startSamba, startTcpProxy, windowsTime } from '@strongroom/lab';
import { mounted, type MountedLdap } from './mounted.ts';

// A domain controller in one process takes its time on a busy machine.
jest.setTimeout(60_000);

const refused = { status: 400, errors: ['ldap operation failed: failed to bind as user'] };
const domain = 'DC=corp,DC=example';
const users = `CN=Users,${domain}`;
const nested = '(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={{.UserDN}}))';
const service = { binddn: `CN=reader,${users}`, bindpass: 'pw-reader' };
const direct = '(&(objectClass=group)(member={{.UserDN}}))';
const roles = Array.from({ length: 60 }, (_, i) => `role ${i}`);

const ldif = [
  adUser('Ann', { password: 'pw-ann' }),
  adUser('bob', { password: 'pw-bob' }),
  adUser('annie', { password: 'pw-annie', principal: 'a.smith' }),
  adUser('reader', { password: 'pw-reader' }),
  adUser('disabled', { password: 'pw-disabled', disabled: true }),
  adUser('locked', { password: 'pw-locked', locked: true }),
  adUser('expired', { password: 'pw-expired', expired: true }),
  adUser('stale', { password: 'pw-stale' }),
  adUser('beginner', { password: 'pw-beginner', mustChange: true }),
  adUser('fragile', { password: 'pw-fragile' }),
  adGroup('Engineers', ['Ann']),
  adGroup('Staff', ['Engineers']),
  adGroup('Everybody Here', ['Staff', 'bob']),
  ...roles.map((role) => adGroup(role, ['bob'])),
].join('');

describeWithSamba('logins against Active Directory, emulated by Samba', () => {
  let samba: SambaServer;
  let mount: MountedLdap;

  beforeAll(async () => {
    samba = await startSamba({ ldif, lockoutThreshold: 4 });
    await samba.apply(modify('stale', 'pwdLastSet', windowsTime(Date.UTC(2001, 0, 1))), { bare: true });
    await samba.apply(`dn: ${domain}\nchangetype: modify\nreplace: maxPwdAge\nmaxPwdAge: ${-windowsDays(3_650)}\n-\n`);
  });
  afterAll(() => samba?.stop());

  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', {
      url: samba.ldapsUrl,
      certificate: samba.ca.certificate,
      binddn: `CN=reader,${users}`,
      bindpass: 'pw-reader',
      userdn: domain,
      userattr: 'sAMAccountName',
      groupdn: domain,
      groupfilter: nested,
      token_ttl: '20m',
    });
    for (const group of ['engineers', 'staff', 'everybody here'])
      await mount.write(`groups/${group}`, { policies: group.replace(' ', '-') });
  });
  afterEach(() => mount.close());

  const login = (name: string, password = `pw-${name.toLowerCase()}`) => mount.login(name, { password });
  const policiesOf = async (name: string): Promise<string[]> => {
    const answer = await login(name);
    expect(answer).toMatchObject({ status: 200 });
    return answer.auth!.policies;
  };
  const change = (name: string, attribute: string, value: string): Promise<void> => samba.apply(modify(name, attribute, value));
  const failures = () => mount.lines.filter(({ message }) => message.endsWith('failed'));

  test('binddn, userdn and userattr find the user by sAMAccountName, in any case', async () => {
    const { auth } = await login('ann');
    expect(auth).toMatchObject({ metadata: { username: 'ann' }, policies: ['default', 'engineers', 'everybody-here', 'staff'] });
    const entity = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
    expect((entity.data as { aliases: unknown[] }).aliases).toMatchObject([{ name: 'Ann' }]);
    expect(await login('ann', 'wrong')).toMatchObject(refused);
  });

  test('groupfilter with member:1.2.840.113556.1.4.1941:= finds nested groups, one without it the direct ones', async () => {
    expect(await policiesOf('Ann')).toEqual(['default', 'engineers', 'everybody-here', 'staff']);
    await mount.write('config', { groupfilter: direct });
    expect(await policiesOf('Ann')).toEqual(['default', 'engineers']);
  });

  test('groupattr memberOf with a filter for users names the groups of the entry', async () => {
    await mount.write('config', { groupfilter: '(&(objectClass=user)(sAMAccountName={{.Username}}))', groupattr: 'memberOf' });
    expect(await policiesOf('Ann')).toEqual(['default', 'engineers']);
  });

  test('use_token_groups finds nested groups by their security identifiers', async () => {
    await mount.write('config', { use_token_groups: true, groupfilter: '' });
    expect(await policiesOf('Ann')).toEqual(['default', 'engineers', 'everybody-here', 'staff']);
    for (const role of ['role 0', 'role 59']) await mount.write(`groups/${role}`, { policies: role.replace(' ', '-') });
    expect(await policiesOf('bob')).toEqual(['default', 'everybody-here', 'role-0', 'role-59']);
  });

  test('max_page_size fetches the groups in pages', async () => {
    await mount.write('config', { max_page_size: 7 });
    for (const role of roles) await mount.write(`groups/${role}`, { policies: role.replace(' ', '-') });
    expect(await policiesOf('bob')).toHaveLength(62);
  });

  test('enable_samaccountname_login finds who has another principal name, and both names are one person with one alias', async () => {
    await mount.write('config', { upndomain: 'corp.example', ...service });
    expect(await login('annie')).toMatchObject(refused);
    const byPrincipal = await login('a.smith', 'pw-annie');
    await mount.write('config', { enable_samaccountname_login: true });
    expect((await mount.read('config')).data).toMatchObject({ enable_samaccountname_login: true });
    for (const name of ['annie', 'a.smith', 'Annie', 'CORP\\annie', 'annie@corp.example']) {
      const { auth } = await login(name, 'pw-annie');
      expect([name, auth?.entity_id, auth?.metadata]).toEqual([name, byPrincipal.auth!.entity_id, { username: 'a.smith' }]);
    }
    expect(await login('annie', 'wrong')).toMatchObject(refused);
  });

  test('enable_samaccountname_login is warned of where there is no upndomain', async () => {
    const { warnings } = await mount.call('update', 'auth/ldap/config', { data: { enable_samaccountname_login: true } });
    expect(warnings?.join()).toContain('enable_samaccountname_login has no effect without upndomain');
  });

  test('upndomain binds <username>@<domain>, with a service account or without', async () => {
    await mount.write('config', { upndomain: 'corp.example' });
    expect(await policiesOf('ann')).toEqual(['default', 'engineers', 'everybody-here', 'staff']);
    await mount.write('config', { binddn: '', bindpass: '' });
    const { auth } = await login('ann');
    expect(auth!.policies).toEqual(['default', 'engineers', 'everybody-here', 'staff']);
    const entity = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
    expect((entity.data as { aliases: unknown[] }).aliases).toMatchObject([{ name: 'ann@corp.example' }]);
    expect(await login('ann', 'wrong')).toMatchObject(refused);
    expect(await login('nobody')).toMatchObject(refused);
  });

  test('ann@corp.example and CORP\\ann are ann, with a service account or without, where the domain is set', async () => {
    const names = ['ann', 'Ann@corp.example', 'ANN@CORP.EXAMPLE', 'CORP\\ann', 'corp\\Ann', ' ann '];
    expect(await login('ann@corp.example', 'pw-ann')).toMatchObject(refused);
    const ways: Record<string, string>[] = [
      { upndomain: 'corp.example' },
      { binddn: '', bindpass: '' },
      { upndomain: '', netbiosname: 'CORP', ...service },
    ];
    for (const config of ways) {
      await mount.write('config', config);
      const logins = [];
      for (const name of config['netbiosname'] ? names.filter((one) => !one.includes('@')) : names)
        logins.push(await login(name, 'pw-ann'));
      for (const { status, auth } of logins)
        expect({ status, entity: auth?.entity_id, meta: auth?.metadata }).toEqual({
          ...{ status: 200, entity: logins[0]!.auth!.entity_id, meta: { username: 'ann' } },
        });
    }
  });

  test('userfilter keeps some users out', async () => {
    const filter =
      '(&(objectClass=user)({{.UserAttr}}={{.Username}})(memberOf:1.2.840.113556.1.4.1941:=CN=Staff,CN=Users,DC=corp,DC=example))';
    await mount.write('config', { userfilter: filter });
    expect(await login('ann')).toMatchObject({ status: 200 });
    expect(await login('bob')).toMatchObject(refused);
  });

  test('discoverdn needs a directory that lets strangers search: this one does not, and no user is blamed', async () => {
    await mount.write('config', { binddn: '', bindpass: '', discoverdn: true });
    expect(await login('ann')).toMatchObject({ status: 500 });
    expect(failures().at(-1)).toMatchObject({ level: 'warn', fields: { step: 'user search', base: domain } });
  });

  test.each([
    ['disabled', '533', 'the account is disabled'],
    ['locked', '775', 'the account is locked'],
    ['expired', '701', 'the account has expired'],
    ['stale', '532', 'the password has expired'],
    ['beginner', '773', 'the password must be changed first'],
  ])('a user who is %s is refused like any other, and the log says why', async (name, code, reason) => {
    for (const changes of [{}, { binddn: '', bindpass: '', upndomain: 'corp.example' }]) {
      await mount.write('config', changes);
      expect(await login(name)).toMatchObject(refused);
      expect(failures().at(-1)).toMatchObject({
        level: 'info',
        fields: { step: 'user bind', reason, error: expect.stringContaining(`data ${code}`) },
      });
    }
    expect(JSON.stringify(mount.lines)).not.toContain(`pw-${name}`);
  });

  test('a user whom wrong passwords locked is refused with the right one', async () => {
    for (let round = 0; round < 4; round += 1) expect(await login('fragile', 'wrong')).toMatchObject(refused);
    expect(await login('fragile')).toMatchObject(refused);
    expect(failures().at(-1)).toMatchObject({ fields: { reason: 'the account is locked' } });
  });

  test('a service account whose password is stale is no fault of the user', async () => {
    await mount.write('config', { bindpass: 'stale' });
    expect(await login('bob')).toMatchObject({ status: 500 });
    expect(failures().at(-1)).toMatchObject({
      level: 'warn',
      fields: { step: 'service bind', name: `CN=reader,${users}`, reason: 'the name or the password is wrong' },
    });
  });

  test('renewal goes on while the user may log in, and ends when the account is disabled, locked, expired or gone', async () => {
    const { auth } = await login('bob');
    const renewed = () => mount.renew(auth!.client_token);
    const barred = { status: 400, errors: [expect.stringContaining('failed to renew entry: the user may no longer log in')] };
    expect(await renewed()).toMatchObject({ status: 200 });
    const spells: [attribute: string, bad: string, good: string, problem: string][] = [
      ['userAccountControl', '514', '512', 'the account is disabled'],
      ['lockoutTime', windowsTime(Date.now()), '0', 'the account is locked'],
      ['accountExpires', windowsTime(Date.UTC(2001, 0, 1)), '0', 'the account has expired'],
      ['pwdLastSet', '0', '-1', 'the password has expired'],
    ];
    for (const [attribute, bad, good, problem] of spells) {
      await change('bob', attribute, bad);
      expect(await renewed()).toMatchObject(barred);
      expect(failures().at(-1)).toMatchObject({ level: 'info', fields: { step: 'account', name: `CN=bob,${users}`, error: problem } });
      await change('bob', attribute, good);
      expect(await renewed()).toMatchObject({ status: 200 });
    }
  });

  test('renewal notices that a nested group was left, and that the name belongs to another entry', async () => {
    await samba.apply(adUser('carol', { password: 'pw-carol' }) + adGroup('Team', ['carol']));
    await samba.apply(`dn: CN=Staff,${users}\nchangetype: modify\nadd: member\nmember: CN=Team,${users}\n-\n`);
    const { auth } = await login('carol');
    expect(auth!.policies).toEqual(['default', 'everybody-here', 'staff']);
    expect(await mount.renew(auth!.client_token)).toMatchObject({ status: 200 });
    await samba.apply(`dn: CN=Staff,${users}\nchangetype: modify\ndelete: member\nmember: CN=Team,${users}\n-\n`);
    expect(await mount.renew(auth!.client_token)).toMatchObject({ errors: [expect.stringContaining('policies have changed')] });
    const { auth: next } = await login('carol');
    await samba.apply(`dn: CN=carol,${users}\nchangetype: delete\n\n`);
    expect(await mount.renew(next!.client_token)).toMatchObject({ errors: [expect.stringContaining('no longer in the directory')] });
    await samba.apply(adUser('carol', { password: 'pw-carol' }));
    expect(await mount.renew(next!.client_token)).toMatchObject({ errors: [expect.stringContaining('may no longer log in')] });
    expect(failures().at(-1)).toMatchObject({ fields: { error: 'the name belongs to another entry now' } });
  });

  test('starttls and ldaps need the certificate of the CA', async () => {
    for (const url of [samba.url, samba.ldapsUrl]) {
      await mount.write('config', { url, starttls: true, certificate: '' });
      expect(await login('ann')).toMatchObject({ status: 500 });
      await mount.write('config', { certificate: samba.ca.certificate });
      expect(await login('ann')).toMatchObject({ status: 200 });
    }
  });

  test('connections that are cut, or go silent, cost logins that were under way at most', async () => {
    const proxy = await startTcpProxy(636, samba.host);
    try {
      await mount.write('config', { url: `ldaps://127.0.0.1:${proxy.port}`, insecure_tls: true, request_timeout: 20 });
      expect(await login('ann')).toMatchObject({ status: 200 });
      proxy.cut();
      expect(await login('ann')).toMatchObject({ status: 200 });
      proxy.hold();
      const slow = login('ann');
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      proxy.release();
      expect(await slow).toMatchObject({ status: 200 });
      proxy.stall();
      const lost = login('ann');
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await mount.clock.advance('20s');
      expect(await lost).toMatchObject({ status: 500 });
      proxy.resume();
      proxy.cut();
      expect(await login('ann')).toMatchObject({ status: 200 });
    } finally {
      await proxy.stop();
    }
  });

  test('the references that the root of a domain always gives are skipped; once their host is listed, it has to answer', async () => {
    expect((await login('Ann')).status).toBe(200);
    await mount.write('config', { referral_hosts: 'dc2.corp.example', bindpass: 'pw-reader' });
    expect((await login('Ann')).status).toBe(200);
    // No resolver of a test knows the name of the domain.
    for (const [url, named] of [
      [samba.ldapsUrl, 'ldaps://corp.example:636'],
      [samba.url, 'ldap://corp.example:389'],
    ] as const) {
      await mount.write('config', { url, referral_hosts: 'corp.example', bindpass: 'pw-reader' });
      const { status, errors } = await login('Ann');
      expect({ status, text: errors?.join() }).toEqual({ status: 500, text: expect.stringContaining(named) });
    }
  });

  test('config/test walks every step, and tells the operator what is wrong with an account', async () => {
    const tried = async (data: Record<string, unknown>) =>
      (await mount.write('config/test', data)).data as { ok: boolean; groups?: string[]; policies?: string[]; steps: { step: string }[] };
    const whole = await tried({ username: 'Ann', password: 'pw-ann' });
    expect(whole).toMatchObject({
      ok: true,
      user_dn: `CN=Ann,${users}`,
      groups: ['Engineers', 'Everybody Here', 'Staff'],
      policies: ['default', 'engineers', 'everybody-here', 'staff'],
      steps: [
        { step: 'connect', ok: true, url: samba.ldapsUrl },
        { step: 'tls', ok: true, protocol: 'TLSv1.2' },
        { step: 'service bind', ok: true, name: `CN=reader,${users}` },
        { step: 'user search', ok: true, base: domain, count: 1 },
        { step: 'user bind', ok: true, name: `CN=Ann,${users}` },
        { step: 'group search', ok: true, base: domain, count: 3 },
        { step: 'policies', ok: true, count: 4 },
      ],
    });
    expect((await tried({ username: 'disabled' })).steps.at(-1)).toMatchObject({
      step: 'account',
      ok: false,
      error: 'the account is disabled',
    });
    expect((await tried({ username: 'stale', password: 'pw-stale' })).steps.at(-1)).toMatchObject({
      step: 'user bind',
      ok: false,
      fault: false,
      reason: 'the password has expired',
    });
    const untrusted = await tried({ certificate: '', bindpass: 'pw-reader', username: 'Ann' });
    expect(untrusted).toMatchObject({
      ok: false,
      steps: [
        { step: 'connect', ok: true },
        { step: 'tls', ok: false, fault: true },
      ],
    });
    const upn = await tried({ upndomain: 'corp.example', binddn: '', bindpass: '', username: 'ann', password: 'pw-ann' });
    expect(upn.steps.map(({ step }) => step)).toEqual(['connect', 'tls', 'user bind', 'user name search', 'group search', 'policies']);
    expect(upn).toMatchObject({ ok: true, user_dn: `CN=Ann,${users}`, policies: ['default', 'engineers', 'everybody-here', 'staff'] });
  });
});

function modify(name: string, attribute: string, value: string): string {
  return `dn: CN=${name},${users}\nchangetype: modify\nreplace: ${attribute}\n${attribute}: ${value}\n-\n\n`;
}

function windowsDays(days: number): bigint {
  return BigInt(days) * 864_000_000_000n;
}
