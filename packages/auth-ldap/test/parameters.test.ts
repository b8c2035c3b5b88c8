import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWithSlapd, type Slapd, startSlapd, startTcpProxy } from '@strongroom/lab';
import { createServer, type AddressInfo } from 'node:net';
import { groups, mounted, people, serviceConfig, type MountedLdap } from './mounted.ts';

const refused = { status: 400, errors: ['ldap operation failed: failed to bind as user'] };
const served = { status: 200 };
const unreachable = { status: 500, errors: [expect.stringContaining('failed to connect to LDAP server')] };
const base = 'dc=example,dc=org';

const aliases = `dn: ou=aliases,${base}
objectClass: organizationalUnit
ou: aliases

dn: cn=alias of user3,ou=aliases,${base}
objectClass: alias
objectClass: extensibleObject
cn: alias of user3
aliasedObjectName: uid=user3,${people}

dn: cn=way to people,ou=aliases,${base}
objectClass: alias
objectClass: extensibleObject
cn: way to people
aliasedObjectName: ${people}

dn: cn=way to groups,ou=aliases,${base}
objectClass: alias
objectClass: extensibleObject
cn: way to groups
aliasedObjectName: ${groups}

`;
const manyGroups = Array.from(
  { length: 1_100 },
  (_, i) => `dn: cn=team ${i},${groups}\nobjectClass: groupOfNames\ncn: team ${i}\nmember: uid=user9,${people}\n\n`,
).join('');

describeWithSlapd('POST /auth/ldap/config: what each parameter does at a login', () => {
  let slapd: Slapd;
  let mount: MountedLdap;

  beforeAll(async () => {
    slapd = await startSlapd({
      ldif: aliases + manyGroups,
      // Like Active Directory: a search gives 1,000 entries at most, but any number in pages.
      config: `sizelimit size.soft=1000 size.hard=1000 size.prtotal=unlimited\naccess to * by * read`,
    });
  });
  afterAll(() => slapd?.stop());

  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', serviceConfig(slapd));
  });
  afterEach(() => mount.close());

  const login = (n: number, password = `pw${n}`) => mount.login(`user${n}`, { password });
  const policies = async (n: number): Promise<string[]> => (await login(n)).auth!.policies;
  const aliasOf = async (username: string, password: string): Promise<string> => {
    const { auth } = await mount.login(username, { password });
    const entity = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
    return (entity.data as { aliases: { name: string }[] }).aliases[0]!.name;
  };
  const lastFailure = () => mount.lines.filter(({ message }) => message === 'a directory login failed').at(-1)?.fields;
  const behindProxy = async (
    work: (proxy: Awaited<ReturnType<typeof startTcpProxy>>) => Promise<void>,
    port = slapd.port,
  ): Promise<void> => {
    const proxy = await startTcpProxy(port);
    try {
      await work(proxy);
    } finally {
      await proxy.stop();
    }
  };
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  test('url: several are tried in order, with spaces between them or without', async () => {
    await behindProxy(async (second) => {
      await mount.write('config', { url: `ldap://127.0.0.1:1,ldap://127.0.0.1:${second.port},${slapd.url}` });
      expect(await login(1)).toMatchObject(served);
      expect(second.accepted).toBeGreaterThan(0);
      await mount.write('config', { url: `ldap://127.0.0.1:1, ${slapd.url}` });
      expect(await login(1)).toMatchObject(served);
    });
  });

  test('case_sensitive_names: the directory gets the name as it was typed, whatever the mappings do with it', async () => {
    for (const case_sensitive_names of [false, true]) {
      await mount.write('config', { case_sensitive_names });
      await mount.login('NoSuch', { password: 'x' });
      expect(lastFailure()).toMatchObject({ filter: '(uid=NoSuch)' });
    }
  });

  test.each([
    ['7s', 7],
    [0, 30],
  ])(
    'connection_timeout %j: a server that does not take the connection is given up after %i s, and the next is tried',
    async (connection_timeout, seconds) => {
      const silent = createServer((socket) => socket.on('error', () => {}).resume());
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const taken = new Promise((resolve) => silent.once('connection', resolve));
      try {
        const url = `ldaps://127.0.0.1:${(silent.address() as AddressInfo).port},${slapd.ldapsUrl}`;
        await mount.write('config', { url, insecure_tls: true, connection_timeout });
        const slow = login(1);
        await taken;
        await turns();
        await mount.clock.advance(`${seconds - 1}s`);
        expect(await Promise.race([slow, turns().then(() => 'still waiting')])).toBe('still waiting');
        await mount.clock.advance('1s');
        expect(await slow).toMatchObject(served);
        expect(await login(2)).toMatchObject(served);
      } finally {
        silent.close();
      }
    },
  );

  test.each([
    [12, 12],
    [0, 90],
  ])('request_timeout %i: a request without an answer fails the login after %i s', async (request_timeout, seconds) => {
    await behindProxy(async (proxy) => {
      await mount.write('config', { url: `ldap://127.0.0.1:${proxy.port}`, request_timeout });
      expect(await login(1)).toMatchObject(served);
      proxy.stall();
      const slow = login(1);
      await turns();
      await mount.clock.advance(`${seconds - 1}s`);
      expect(await Promise.race([slow, turns().then(() => 'still waiting')])).toBe('still waiting');
      await mount.clock.advance('1s');
      expect((await slow).status).toBe(seconds < 90 ? 500 : 504);
      expect(lastFailure()?.['error']).toMatch(seconds < 90 ? `no answer within ${seconds} s` : 'gave up');
    });
  });

  test('starttls: a connection to ldap:// is encrypted before anything else is sent, one to ldaps:// is unchanged', async () => {
    const demanding = await startSlapd({ globalConfig: 'security ssf=128' });
    try {
      await mount.write('config', { ...serviceConfig(demanding), certificate: demanding.ca.certificate });
      expect(await login(1)).toMatchObject({ status: 500 });
      await mount.write('config', { starttls: true });
      expect(await login(1)).toMatchObject(served);
      await mount.write('config', { url: demanding.ldapsUrl });
      expect(await login(1)).toMatchObject(served);
    } finally {
      await demanding.stop();
    }
  });

  test('tls_min_version and tls_max_version: a server that speaks another version is not talked to', async () => {
    const modern = await startSlapd({ globalConfig: 'TLSCipherSuite NORMAL:-VERS-ALL:+VERS-TLS1.3' });
    const old = await startSlapd({ globalConfig: 'TLSCipherSuite NORMAL:-VERS-ALL:+VERS-TLS1.2' });
    try {
      await mount.write('config', { ...serviceConfig(modern), url: modern.ldapsUrl, certificate: modern.ca.certificate });
      expect(await login(1)).toMatchObject(unreachable);
      await mount.write('config', { tls_max_version: 'tls13' });
      expect(await login(1)).toMatchObject(served);
      await mount.write('config', { tls_min_version: 'tls13', url: slapd.ldapsUrl, certificate: slapd.ca.certificate });
      expect(await login(1)).toMatchObject(served);
      await mount.write('config', { ...serviceConfig(old), url: old.ldapsUrl, certificate: old.ca.certificate });
      expect(await login(1)).toMatchObject(unreachable);
      await mount.write('config', { tls_min_version: 'tls12' });
      expect(await login(1)).toMatchObject(served);
    } finally {
      await modern.stop();
      await old.stop();
    }
  });

  test('certificate: the only CAs that are trusted; insecure_tls: none is asked for', async () => {
    await mount.write('config', { url: slapd.ldapsUrl });
    expect(await login(1)).toMatchObject(unreachable);
    await mount.write('config', { certificate: slapd.ca.certificate });
    expect(await login(1)).toMatchObject(served);
    await mount.write('config', { certificate: '', insecure_tls: true });
    expect(await login(1)).toMatchObject(served);
  });

  test('client_tls_cert and client_tls_key: shown to a server that asks for them', async () => {
    const demanding = await startSlapd({ globalConfig: 'TLSVerifyClient demand' });
    try {
      const { cert, key } = demanding.ca.issue('strongroom');
      await mount.write('config', { ...serviceConfig(demanding), url: demanding.ldapsUrl, certificate: demanding.ca.certificate });
      expect(await login(1)).toMatchObject({ status: 500 });
      await mount.write('config', { client_tls_cert: cert, client_tls_key: key });
      expect(await login(1)).toMatchObject(served);
    } finally {
      await demanding.stop();
    }
  });

  test('binddn and bindpass: the account that searches; its failure is not the fault of the user', async () => {
    await mount.write('config', { binddn: `uid=svc1,ou=svc,${base}`, bindpass: 'pw1' });
    expect(await login(1)).toMatchObject(served);
    await mount.write('config', { bindpass: 'pw2' });
    expect(await login(1)).toMatchObject({ status: 500 });
  });

  test('userdn: users elsewhere are not found', async () => {
    expect(await mount.login('svc3', { password: 'pw3' })).toMatchObject(refused);
    await mount.write('config', { userdn: base });
    expect(await mount.login('svc3', { password: 'pw3' })).toMatchObject(served);
  });

  test('userattr: the attribute that the name is compared with, and that names the alias', async () => {
    await mount.write('config', { userattr: 'mail' });
    expect(await login(1)).toMatchObject(refused);
    expect(await aliasOf('user1@example.org', 'pw1')).toBe('user1@example.org');
  });

  test('discoverdn: the name to bind is found without an account', async () => {
    await mount.write('config', { binddn: '', bindpass: '', userattr: 'cn' });
    expect(await mount.login('User 1', { password: 'pw1' })).toMatchObject(refused);
    await mount.write('config', { discoverdn: true });
    expect(await mount.login('User 1', { password: 'pw1' })).toMatchObject(served);
  });

  test('deny_null_bind: an empty password is refused without asking the directory, unless it is off', async () => {
    await behindProxy(async (proxy) => {
      await mount.write('config', { url: `ldap://127.0.0.1:${proxy.port}` });
      expect(await login(1, '')).toMatchObject({ status: 400 });
      expect(proxy.accepted).toBe(0);
      await mount.write('config', { deny_null_bind: false });
      expect(await login(1, '')).toMatchObject(refused);
      expect(proxy.accepted).toBeGreaterThan(0);
    });
  });

  test('userfilter: applied with binddn and bindpass, or with discoverdn, and with neither not at all', async () => {
    const userfilter = '(&({{.UserAttr}}={{.Username}})(mail=user2@example.org))';
    await mount.write('config', { userfilter });
    expect([(await login(1)).status, (await login(2)).status]).toEqual([400, 200]);
    await mount.write('config', { binddn: '', bindpass: '', discoverdn: true });
    expect([(await login(1)).status, (await login(2)).status]).toEqual([400, 200]);
    await mount.write('config', { discoverdn: false });
    expect([(await login(1)).status, (await login(2)).status]).toEqual([200, 200]);
    await mount.write('config', { ...serviceConfig(slapd), userfilter: '(uid={{.Username}})' });
    expect(await login(1)).toMatchObject(served);
  });

  test('anonymous_group_search: groups are searched without the service account', async () => {
    await mount.write('groups/eng', { policies: 'engpol' });
    const guarded = await startSlapd({
      config: `access to dn.subtree="${groups}" by anonymous read by * none\naccess to * by anonymous auth by * read`,
    });
    try {
      const account = { binddn: `uid=svc1,ou=svc,${base}`, bindpass: 'pw1' };
      await mount.write('config', { ...serviceConfig(guarded), ...account });
      expect(await login(1)).toMatchObject({ status: 500, errors: [expect.stringContaining('LDAP search failed')] });
      await mount.write('config', { anonymous_group_search: true });
      expect(await policies(1)).toEqual(['default', 'engpol']);
    } finally {
      await guarded.stop();
    }
  });

  test('groupfilter and groupdn: no search for groups when one of them is empty', async () => {
    await mount.write('groups/eng', { policies: 'engpol' });
    expect(await policies(1)).toEqual(['default', 'engpol']);
    await mount.write('config', { groupfilter: '' });
    expect(await policies(1)).toEqual(['default']);
    await mount.write('config', { groupfilter: '(&(cn=ops)(member={{.UserDN}}))' });
    expect(await policies(1)).toEqual(['default']);
    await mount.write('config', { groupfilter: '(member={{.UserDN}})', groupdn: '' });
    expect(await policies(1)).toEqual(['default']);
    await mount.write('config', { groupdn: base });
    expect(await policies(1)).toEqual(['default', 'engpol']);
  });

  test('groupattr: cn unless it is set', async () => {
    await mount.write('groups/eng', { policies: 'engpol' });
    await mount.write('config', { groupattr: '' });
    expect(await policies(1)).toEqual(['default', 'engpol']);
  });

  test('username_as_alias: the alias is the name that was given', async () => {
    await mount.write('config', { userattr: 'mail', userfilter: '(uid={{.Username}})' });
    expect(await aliasOf('USER1', 'pw1')).toBe('user1@example.org');
    await mount.write('config', { username_as_alias: true });
    expect(await aliasOf('USER1', 'pw1')).toBe('user1');
  });

  test('dereference_aliases: never, finding (the base), searching (what is below it) or always', async () => {
    const below = { userdn: `ou=aliases,${base}` };
    const atBase = { userdn: `cn=way to people,ou=aliases,${base}` };
    const verdicts = async (where: Record<string, unknown>): Promise<number[]> => {
      await mount.write('config', where);
      const statuses: number[] = [];
      for (const dereference_aliases of ['never', 'finding', 'searching', 'always']) {
        await mount.write('config', { dereference_aliases });
        statuses.push((await login(3)).status);
      }
      return statuses;
    };
    expect(await verdicts(atBase)).toEqual([400, 200, 400, 200]);
    await mount.write('config', { userdn: people, groupdn: `cn=way to groups,ou=aliases,${base}` });
    await mount.write('groups/eng', { policies: 'engpol' });
    const found: string[][] = [];
    for (const dereference_aliases of ['never', 'finding', 'searching', 'always']) {
      await mount.write('config', { dereference_aliases });
      found.push(await policies(3));
    }
    expect(found).toEqual([['default'], ['default', 'engpol'], ['default'], ['default', 'engpol']]);
    expect(await verdicts(below)).toEqual([400, 400, 200, 200]);
  });

  test('max_page_size: more groups than the directory gives at once need pages', async () => {
    await mount.write('config', { binddn: `uid=svc1,ou=svc,${base}`, bindpass: 'pw1' });
    expect(await login(9)).toMatchObject({ status: 500, errors: [expect.stringContaining('LDAP Result Code 4 "Size Limit Exceeded"')] });
    await mount.write('groups/team 1099', { policies: 'last' });
    await mount.write('config', { max_page_size: 1_000 });
    expect(await policies(9)).toEqual(['default', 'last']);
  });

  test('upndomain: without Active Directory the name <username>@<domain> binds nobody', async () => {
    await mount.write('config', { binddn: '', bindpass: '', upndomain: 'example.org' });
    expect(await login(1)).toMatchObject(refused);
    expect(lastFailure()).toMatchObject({ step: 'user bind', name: 'user1@example.org' });
  });
});

describeWithSlapd('POST /auth/ldap/config: what each token parameter does', () => {
  let slapd: Slapd;
  let mount: MountedLdap;

  beforeAll(async () => {
    slapd = await startSlapd();
  });
  afterAll(() => slapd?.stop());

  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', serviceConfig(slapd));
  });
  afterEach(() => mount.close());

  const tokenWith = async (config: Record<string, unknown>) => {
    await mount.write('config', config);
    return (await mount.login('user1', { password: 'pw1' })).auth!;
  };

  test('token_ttl: the lifetime, and at a renewal its present value', async () => {
    const { client_token, lease_duration } = await tokenWith({ token_ttl: '10m' });
    expect(lease_duration).toBe(600);
    await mount.write('config', { token_ttl: 300 });
    expect((await mount.renew(client_token)).auth).toMatchObject({ lease_duration: 300 });
  });

  test('token_max_ttl: the end of all renewals, by its present value', async () => {
    const { client_token } = await tokenWith({ token_ttl: '10m', token_max_ttl: '15m' });
    await mount.advance('8m');
    expect((await mount.renew(client_token)).auth).toMatchObject({ lease_duration: 420 });
    await mount.write('config', { token_max_ttl: '10m' });
    expect((await mount.renew(client_token)).auth).toMatchObject({ lease_duration: 120 });
  });

  test('token_policies, and its older name policies: on every token, beside those of users and groups', async () => {
    await mount.write('users/user1', { policies: 'own' });
    expect((await tokenWith({ token_policies: 'a,b' })).policies).toEqual(['a', 'b', 'default', 'own']);
    expect((await tokenWith({ token_policies: ['c'] })).policies).toEqual(['c', 'default', 'own']);
    await mount.write('config', { token_policies: '' });
    expect((await tokenWith({ policies: 'd' })).policies).toEqual(['d', 'default', 'own']);
  });

  test('token_bound_cidrs: logins, and the token, from these addresses alone', async () => {
    await mount.write('config', { token_bound_cidrs: ['10.0.0.0/8', '::1/128'] });
    const from = (address: string) => mount.login('user1', { password: 'pw1' }, address);
    expect([(await from('10.1.2.3')).status, (await from('::1')).status, (await from('11.1.2.3')).status]).toEqual([200, 200, 403]);
    const token = (await from('10.1.2.3')).auth!.client_token;
    const used = (remoteAddress: string) => mount.call('read', 'auth/token/lookup-self', { token, remoteAddress });
    expect([(await used('10.1.2.3')).status, (await used('11.1.2.3')).status]).toEqual([200, 403]);
  });

  test('token_explicit_max_ttl: a cap that no renewal passes, also when the configuration changes', async () => {
    const { client_token } = await tokenWith({ token_ttl: '10m', token_explicit_max_ttl: '12m' });
    await mount.write('config', { token_explicit_max_ttl: 0 });
    await mount.advance('9m');
    expect((await mount.renew(client_token)).auth).toMatchObject({ lease_duration: 180 });
  });

  test('token_no_default_policy: the default policy is left out', async () => {
    expect((await tokenWith({ token_no_default_policy: true, token_policies: 'a' })).policies).toEqual(['a']);
  });

  test('token_num_uses: a token dies with its last use', async () => {
    const { client_token, num_uses } = await tokenWith({ token_num_uses: 2 });
    expect(num_uses).toBe(2);
    const use = async () => (await mount.call('read', 'auth/token/lookup-self', { token: client_token })).status;
    expect([await use(), await use(), await use()]).toEqual([200, 200, 403]);
  });

  test('token_period: every renewal gives the whole period again, past any maximum', async () => {
    const { client_token, lease_duration } = await tokenWith({ token_period: '10m', token_max_ttl: '15m' });
    expect(lease_duration).toBe(600);
    for (let round = 0; round < 3; round += 1) {
      await mount.advance('9m');
      expect((await mount.renew(client_token)).auth).toMatchObject({ lease_duration: 600 });
    }
  });

  test('token_type: service, batch, or what the mount is tuned to', async () => {
    expect(await tokenWith({ token_type: 'service' })).toMatchObject({ token_type: 'service', renewable: true });
    expect(await tokenWith({ token_type: 'batch' })).toMatchObject({ token_type: 'batch', renewable: false });
    expect(await tokenWith({ token_type: 'default' })).toMatchObject({ token_type: 'service' });
  });
});
