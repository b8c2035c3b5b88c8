import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWithSlapd, type Slapd, startSlapd, startStallingProxy, startTcpProxy } from '@strongroom/lab';
import { groups, mounted, people, serviceConfig, type MountedLdap } from './mounted.ts';

const refused = { status: 400, errors: ['ldap operation failed: failed to bind as user'] };

const ldif = `dn: cn=posix,${groups}
objectClass: posixGroup
cn: posix
gidNumber: 7
memberUid: user7
memberUid: Mixed

dn: uid=Mixed,${people}
objectClass: inetOrgPerson
uid: Mixed
cn: Mixed Case
sn: m
userPassword: pwm

dn: uid=odd+sn=o,${people}
objectClass: inetOrgPerson
uid: odd
uid: (odd*)
cn: odd
sn: o
userPassword: pwo

dn: uid=Smith\\, Ann,${people}
objectClass: inetOrgPerson
uid: Smith, Ann
cn: Ann
sn: s
userPassword: pws

dn: cn=pointer,${groups}
objectClass: groupOfNames
cn: pointer
description: CN=Far Away,ou=elsewhere
description: plain
description: ou=nameless
member: uid=user8,${people}
`;

describeWithSlapd('POST /auth/ldap/login/:username: log in', () => {
  let slapd: Slapd;
  let mount: MountedLdap;

  beforeAll(async () => {
    slapd = await startSlapd({ ldif, globalConfig: 'allow bind_anon_dn' });
  });
  afterAll(() => slapd?.stop());

  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', serviceConfig(slapd));
  });
  afterEach(() => mount.close());

  const lastFailure = () => mount.lines.filter(({ message }) => message === 'a directory login failed').at(-1);
  const policiesOf = async (username: string, password: string): Promise<string[]> =>
    (await mount.login(username, { password })).auth!.policies;

  test('a user gets the policies of the configuration, of the groups of the directory, of own groups and of the name', async () => {
    await mount.write('config', { token_policies: 'base', token_ttl: '20m' });
    await mount.write('groups/eng', { policies: 'engpol,Dev' });
    await mount.write('groups/Ops', { policies: ['ops'] });
    await mount.write('groups/extra', { policies: ['more'] });
    await mount.write('users/User55', { policies: 'u55', groups: 'extra' });
    const answer = await mount.login('user55', { password: 'pw55' });
    expect(answer).toMatchObject({ status: 200, data: {}, warnings: null });
    const policies = ['base', 'default', 'dev', 'engpol', 'more', 'ops', 'u55'];
    expect(answer.auth).toMatchObject({
      policies,
      token_policies: policies,
      metadata: { username: 'user55' },
      lease_duration: 1200,
      renewable: true,
      token_type: 'service',
      orphan: true,
      num_uses: 0,
    });
    const found = await mount.call('read', 'auth/token/lookup-self', { token: answer.auth!.client_token });
    expect(found.data).toMatchObject({ display_name: 'ldap-user55', path: 'auth/ldap/login/user55', meta: { username: 'user55' } });
  });

  test('without a group of the directory it succeeds with a warning', async () => {
    const answer = await mount.login('user150', { password: 'pw150' });
    expect(answer.warnings).toEqual([`no LDAP groups found in groupDN "${groups}"; only policies from locally-defined groups available`]);
    expect(answer.auth!.policies).toEqual(['default']);
    await mount.write('config', { groupdn: '' });
    expect((await mount.login('user55', { password: 'pw55' })).warnings).toEqual([
      'no LDAP groups found in groupDN ""; only policies from locally-defined groups available',
    ]);
  });

  test('spaces around the name and its case do not matter, and one user is one entity', async () => {
    await mount.write('users/user56', { policies: 'mine' });
    const plain = await mount.login('user56', { password: 'pw56' });
    const loud = await mount.login(' USER56 ', { password: 'pw56' });
    expect(loud.auth).toMatchObject({ policies: ['default', 'mine'], metadata: { username: 'user56' }, entity_id: plain.auth!.entity_id });
  });

  test('wrong password, unknown user, wild name and several entries are refused in the same words', async () => {
    expect(await mount.login('user55', { password: 'wrong' })).toMatchObject(refused);
    expect(await mount.login('nosuch', { password: 'x' })).toMatchObject(refused);
    expect(await mount.login('user5*', { password: 'x' })).toMatchObject(refused);
    expect(await mount.login('x'.repeat(990), { password: 'x' })).toMatchObject(refused);
    expect(await mount.login(' ', { password: 'x' })).toMatchObject(refused);
    await mount.write('config', { userfilter: '(|({{.UserAttr}}={{.Username}})(uid=user2))' });
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject(refused);
    expect(lastFailure()).toMatchObject({ fields: { step: 'user search', count: 2, error: '2 entries instead of one' } });
    await mount.write('config', { userfilter: '(|({{.UserAttr}}={{.Username}})(uid=user*))' });
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject(refused);
    expect(lastFailure()).toMatchObject({ fields: { step: 'user search', error: 'more than two entries' } });
  });

  test('a user who is not found, or found twice, costs the bind of a name that nobody has: the directory is asked as for a wrong password', async () => {
    const watched = await startStallingProxy({ host: '127.0.0.1', port: slapd.port }, 'never said');
    try {
      await mount.write('config', { url: `ldap://127.0.0.1:${watched.port}` });
      const asked = async (username: string): Promise<{ searches: number; binds: string[] }> => {
        const before = watched.received().length;
        expect(await mount.login(username, { password: 'secret-word' })).toMatchObject(refused);
        const sent = watched.received().subarray(before).toString('latin1');
        const names = [...sent.matchAll(/[a-z]+=\w+(?=,ou=people,dc=example,dc=org\x80\x0bsecret-word)/g)].map(([name]) => name);
        return { searches: sent.split('ou=people,dc=example,dc=org\n\x01\x02').length - 1, binds: names };
      };
      expect(await asked('user55')).toEqual({ searches: 1, binds: ['uid=user55'] });
      const nobody = { searches: 1, binds: [expect.stringMatching(/^cn=[0-9a-f]{32}$/)] };
      expect(await asked('nosuch')).toEqual(nobody);
      await mount.write('config', { userfilter: '(|({{.UserAttr}}={{.Username}})(uid=user2))' });
      expect(await asked('user1')).toEqual(nobody);
      expect(mount.lines.filter(({ fields }) => fields['step'] === 'user bind')).toHaveLength(1);
    } finally {
      await watched.close();
    }
  });

  test('while binds fail for no fault of the user, an unknown user gets the answer of a known one', async () => {
    const guarded = await startSlapd({ globalConfig: 'security simple_bind=128' });
    try {
      await mount.write('config', { url: guarded.url, binddn: '', bindpass: '', discoverdn: true });
      const [known, unknown] = [await mount.login('user55', { password: 'pw55' }), await mount.login('nosuch', { password: 'pw55' })];
      expect(known).toMatchObject({ status: 500, errors: [expect.stringContaining('failed to bind as user')] });
      expect({ status: unknown.status, errors: unknown.errors }).toEqual({ status: known.status, errors: known.errors });
    } finally {
      await guarded.stop();
    }
  });

  test("the operator's log says which step failed, with base, filter and count, and no password", async () => {
    await mount.login('nosuch', { password: 'secret-word' });
    await mount.login('user55', { password: 'secret-word' });
    const lines = mount.lines.filter(({ message }) => message === 'a directory login failed');
    expect(lines).toMatchObject([
      { level: 'info', fields: { mount: 'auth/ldap/', step: 'user search', base: people, filter: '(uid=nosuch)', count: 0 } },
      { level: 'info', fields: { step: 'user bind', name: `uid=user55,${people}`, error: expect.stringContaining('Result Code 49') } },
    ]);
    expect(JSON.stringify(mount.lines)).not.toContain('secret-word');
  });

  test('an empty password is refused before anything is sent, unless deny_null_bind is off', async () => {
    await mount.write('config', { url: 'ldap://127.0.0.1:1' });
    const text = 'password cannot be of zero length when passwordless binds are being denied';
    expect(await mount.login('user55', { password: '' })).toMatchObject({ status: 400, errors: [text] });
    expect(await mount.login('user55')).toMatchObject({ status: 400, errors: [text] });
    await mount.write('config', { url: slapd.url, deny_null_bind: false });
    expect(await mount.login('user55', { password: '' })).toMatchObject({ status: 200 });
  });

  test('a password that no directory would take is refused before anything is sent, one of 64 KiB is not', async () => {
    expect(await mount.login('user55', { password: 'x'.repeat(65_537) })).toMatchObject({
      status: 400,
      errors: ['password is longer than 65536 bytes'],
    });
    expect(mount.lines.filter(({ message }) => message.includes('login failed'))).toEqual([]);
    expect(await mount.login('user55', { password: 'x'.repeat(65_536) })).toMatchObject(refused);
  });

  test('special characters of a name stay what they are in filters', async () => {
    await mount.write('config', { username_as_alias: true });
    expect(await mount.login('(odd*)', { password: 'pwo' })).toMatchObject({ status: 200 });
    expect(await mount.login('*)(uid=user1', { password: 'pw1' })).toMatchObject(refused);
  });

  test('an alias attribute with several values, or none, fails the login', async () => {
    expect(await mount.login('odd', { password: 'pwo' })).toMatchObject({
      status: 400,
      errors: ['LDAP entity alias attribute uid empty or not unique for entity alias mapping'],
    });
    await mount.write('config', { userattr: 'employeenumber', userfilter: '(uid={{.Username}})' });
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject({
      status: 400,
      errors: ['LDAP attribute missing for entity alias mapping'],
    });
  });

  test('five refusals lock the name; an outage is not counted', async () => {
    await mount.write('config', { url: 'ldap://127.0.0.1:1' });
    for (let round = 0; round < 6; round += 1) {
      expect(await mount.login('user55', { password: 'pw55' })).toMatchObject({
        status: 500,
        errors: [expect.stringContaining('failed to connect to LDAP server')],
      });
    }
    await mount.write('config', { url: slapd.url });
    for (let round = 0; round < 5; round += 1) expect(await mount.login('user55', { password: 'wrong' })).toMatchObject(refused);
    expect(await mount.login('user55', { password: 'pw55' })).toMatchObject({ status: 403, errors: ['permission denied'] });
    expect(await mount.login('user56', { password: 'pw56' })).toMatchObject({ status: 200 });
  });

  test('a service account that cannot bind, or a base that is not there, is no fault of the user', async () => {
    await mount.write('config', { bindpass: 'stale' });
    const failed = { status: 500, errors: [expect.stringContaining('ldap operation failed: failed to bind as user')] };
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject(failed);
    expect(lastFailure()).toMatchObject({ level: 'warn', fields: { step: 'service bind', name: slapd.adminDn } });
    await mount.write('config', { bindpass: slapd.adminPassword, userdn: 'ou=nowhere,dc=example,dc=org' });
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject(failed);
    expect(lastFailure()).toMatchObject({ level: 'warn', fields: { step: 'user search', base: 'ou=nowhere,dc=example,dc=org' } });
    await mount.write('config', { userdn: people, groupdn: 'ou=nowhere,dc=example,dc=org' });
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject({
      status: 500,
      errors: [expect.stringContaining('LDAP search failed: LDAP Result Code 32 "No Such Object": ')],
    });
  });

  test('servers are tried in order until one connects', async () => {
    await mount.write('config', { url: `ldap://127.0.0.1:1,${slapd.url}` });
    expect(await mount.login('user1', { password: 'pw1' })).toMatchObject({ status: 200 });
  });

  test('StartTLS and ldaps check the certificate of the server', async () => {
    for (const change of [{ starttls: true }, { url: slapd.ldapsUrl, starttls: false }]) {
      await mount.write('config', { ...change, certificate: '' });
      expect(await mount.login('user1', { password: 'pw1' })).toMatchObject({ status: 500 });
      await mount.write('config', { certificate: slapd.ca.certificate });
      expect(await mount.login('user1', { password: 'pw1' })).toMatchObject({ status: 200 });
    }
  });

  test('discoverdn finds the user without a service account', async () => {
    await mount.write('config', { binddn: '', bindpass: '', discoverdn: true });
    await mount.write('groups/eng', { policies: 'engpol' });
    expect(await policiesOf('user1', 'pw1')).toEqual(['default', 'engpol']);
    expect(await mount.login('user1', { password: 'pw2' })).toMatchObject(refused);
  });

  test('without any search the name is put together, and the user searches the groups', async () => {
    await mount.write('config', { binddn: '', bindpass: '' });
    await mount.write('groups/eng', { policies: 'engpol' });
    expect(await policiesOf('user1', 'pw1')).toEqual(['default', 'engpol']);
    expect(await mount.login('user1,ou=people', { password: 'pw1' })).toMatchObject(refused);
    expect(await mount.login('Smith, Ann', { password: 'pws' })).toMatchObject({ status: 200 });
    const entity = await mount.call('read', `identity/entity/id/${(await mount.login('user1', { password: 'pw1' })).auth!.entity_id}`);
    expect((entity.data as { aliases: unknown[] }).aliases).toMatchObject([{ name: `uid=user1,${people}`, metadata: { name: 'user1' } }]);
  });

  test('the default groupfilter finds members by name and by entry, in the variant of the directory', async () => {
    await mount.write('config', { groupfilter: '(|(memberUid={{.Username}})(member={{.UserDN}})(uniqueMember={{.UserDN}}))' });
    await mount.write('groups/posix', { policies: 'posixpol' });
    await mount.write('groups/eng', { policies: 'engpol' });
    expect(await policiesOf('user7', 'pw7')).toEqual(['default', 'engpol', 'posixpol']);
    expect(await policiesOf('MIXED', 'pwm')).toEqual(['default', 'posixpol']);
  });

  test('groupattr may hold names of entries, plain names, or be absent', async () => {
    for (const name of ['far away', 'plain', 'ou=nameless', 'eng'])
      await mount.write(`groups/${name}`, { policies: name.replace(' ', '-') });
    await mount.write('config', { groupattr: 'DESCRIPTION' });
    expect(await policiesOf('user8', 'pw8')).toEqual(['default', 'eng', 'far-away', 'ou=nameless', 'plain']);
  });

  test('max_page_size fetches the groups page by page, anonymous_group_search without a bind', async () => {
    await mount.write('groups/eng', { policies: 'engpol' });
    await mount.write('groups/ops', { policies: 'opspol' });
    await mount.write('config', { max_page_size: 1, anonymous_group_search: true });
    expect(await policiesOf('user50', 'pw50')).toEqual(['default', 'engpol', 'opspol']);
  });

  test('case_sensitive_names maps by exact case, the case of the directory', async () => {
    await mount.write('config', { case_sensitive_names: true });
    await mount.write('users/user1', { policies: 'lower' });
    await mount.write('users/User1', { policies: 'upper' });
    await mount.write('groups/ENG', { policies: 'loud' });
    for (const variant of ['user1', 'User1']) expect(await policiesOf(variant, 'pw1')).toEqual(['default', 'lower']);
  });

  test('groups of the directory are group aliases of the identity store', async () => {
    const auth = (await mount.call('read', 'sys/auth')).data as Record<string, { accessor: string }>;
    await mount.call('update', 'sys/policies/acl/outside', { data: { policy: '' } });
    const group = await mount.call('update', 'identity/group', { data: { name: 'engineers', type: 'external', policies: 'outside' } });
    const data = { name: 'eng', mount_accessor: auth['ldap/']!.accessor, canonical_id: (group.data as { id: string }).id };
    expect(await mount.call('update', 'identity/group-alias', { data })).toMatchObject({ status: 200 });
    const { auth: issued } = await mount.login('user1', { password: 'pw1' });
    expect(issued).toMatchObject({ identity_policies: ['outside'], token_policies: ['default'] });
    expect((await mount.renew(issued!.client_token)).auth).toMatchObject({ identity_policies: ['outside'] });
    expect((await mount.login('user150', { password: 'pw150' })).auth?.identity_policies ?? []).toEqual([]);
    await mount.write('users/user150', { groups: 'eng' });
    const own = (await mount.login('user150', { password: 'pw150' })).auth!;
    expect(own).toMatchObject({ identity_policies: ['outside'] });
    await mount.delete('users/user150');
    expect((await mount.renew(own.client_token)).auth?.identity_policies ?? []).toEqual([]);
  });

  test('token parameters shape the token', async () => {
    await mount.write('config', { token_type: 'batch', token_no_default_policy: true, token_policies: 'only' });
    expect((await mount.login('user1', { password: 'pw1' })).auth).toMatchObject({
      token_type: 'batch',
      policies: ['only'],
      renewable: false,
    });
    await mount.write('config', { token_type: 'service', token_num_uses: 3, token_explicit_max_ttl: 60 });
    expect((await mount.login('user1', { password: 'pw1' })).auth).toMatchObject({ num_uses: 3, lease_duration: 60 });
  });

  test('token_bound_cidrs refuses other addresses before the directory is asked', async () => {
    await mount.write('config', { token_bound_cidrs: '10.0.0.0/8' });
    expect(await mount.login('user1', { password: 'wrong' }, '192.0.2.1')).toMatchObject({ status: 403, errors: ['permission denied'] });
    expect(mount.lines.filter(({ message }) => message.includes('login failed'))).toEqual([]);
    const { auth } = await mount.login('user1', { password: 'pw1' }, '10.1.2.3');
    const look = async (remoteAddress: string) =>
      mount.call('read', 'auth/token/lookup-self', { token: auth!.client_token, remoteAddress });
    expect(await look('10.9.9.9')).toMatchObject({ status: 200 });
    expect(await look('192.0.2.1')).toMatchObject({ status: 403 });
    await mount.write('config', { token_bound_cidrs: [], token_strictly_bind_ip: true });
    const strict = await mount.login('user1', { password: 'pw1' }, '10.1.2.3');
    expect(
      await mount.call('read', 'auth/token/lookup-self', { token: strict.auth!.client_token, remoteAddress: '10.9.9.9' }),
    ).toMatchObject({
      status: 403,
    });
  });

  test('logins share connections, and a new configuration closes the old ones', async () => {
    const proxy = await startTcpProxy(slapd.port);
    try {
      await mount.write('config', { url: `ldap://127.0.0.1:${proxy.port}` });
      for (let n = 1; n <= 20; n += 1) expect(await mount.login(`user${n}`, { password: `pw${n}` })).toMatchObject({ status: 200 });
      expect(proxy.accepted).toBeLessThanOrEqual(3);
      const before = proxy.accepted;
      await mount.write('config', { userdn: people });
      expect(await mount.login('user1', { password: 'pw1' })).toMatchObject({ status: 200 });
      expect(proxy.accepted).toBeGreaterThan(before);
    } finally {
      await proxy.stop();
    }
  });

  test('twenty logins at once all succeed while the configuration is written', async () => {
    const logins = Array.from({ length: 20 }, async (_, index) => mount.login(`user${index + 1}`, { password: `pw${index + 1}` }));
    const write = mount.write('config', { token_policies: 'new' });
    expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    await write;
  });
});
