import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestCa } from '@strongroom/lab';
import { mounted, type MountedLdap } from './mounted.ts';

let mount: MountedLdap;

beforeEach(async () => {
  mount = await mounted();
});

afterEach(() => mount.close());

const defaults = {
  url: 'ldap://127.0.0.1',
  userdn: '',
  userattr: 'cn',
  userfilter: '({{.UserAttr}}={{.Username}})',
  binddn: '',
  discoverdn: false,
  upndomain: '',
  bindpass_set: false,
  deny_null_bind: true,
  groupdn: '',
  groupfilter: '(|(memberUid={{.Username}})(member={{.UserDN}})(uniqueMember={{.UserDN}}))',
  groupattr: 'cn',
  anonymous_group_search: false,
  use_token_groups: false,
  use_pre111_group_cn_behavior: false,
  username_as_alias: false,
  case_sensitive_names: false,
  dereference_aliases: 'never',
  max_page_size: 0,
  request_timeout: 90,
  connection_timeout: 30,
  starttls: false,
  insecure_tls: false,
  tls_min_version: 'tls12',
  tls_max_version: 'tls12',
  certificate: '',
  token_bound_cidrs: [],
  token_explicit_max_ttl: 0,
  token_max_ttl: 0,
  token_no_default_policy: false,
  token_num_uses: 0,
  token_period: 0,
  token_policies: [],
  token_strictly_bind_ip: false,
  token_ttl: 0,
  token_type: 'default',
};

describe('GET /auth/ldap/config: read the configuration', () => {
  test('before any write it shows every default', async () => {
    expect(await mount.read('config')).toMatchObject({ status: 200, data: defaults });
    expect(Object.keys((await mount.read('config')).data as object).sort()).toEqual(Object.keys(defaults).sort());
  });

  test('it never shows bindpass or the client key pair', async () => {
    const { cert, key } = createTestCa().issue('client');
    await mount.write('config', { bindpass: 'hidden', client_tls_cert: cert, client_tls_key: key });
    const text = JSON.stringify((await mount.read('config')).data);
    for (const key of ['"bindpass"', 'hidden', 'client_tls_cert', 'client_tls_key', 'PRIVATE KEY']) expect(text).not.toContain(key);
  });
});

describe('POST /auth/ldap/config: configure the method', () => {
  test('it takes every parameter, durations and lists in each form, and lower-cases url and userattr', async () => {
    const given = {
      userdn: 'ou=people',
      userfilter: '(&({{.UserAttr}}={{.Username}})(objectClass=person))',
      binddn: 'cn=reader',
      discoverdn: true,
      upndomain: 'example.org',
      deny_null_bind: false,
      groupdn: 'ou=groups',
      groupfilter: '(member={{.UserDN}})',
      groupattr: 'memberOf',
      anonymous_group_search: true,
      use_token_groups: true,
      use_pre111_group_cn_behavior: true,
      username_as_alias: true,
      case_sensitive_names: true,
      dereference_aliases: 'always',
      max_page_size: 500,
      starttls: true,
      insecure_tls: true,
      tls_min_version: 'tls10',
      tls_max_version: 'tls13',
      certificate: createTestCa().certificate,
      token_explicit_max_ttl: 7200,
      token_no_default_policy: true,
      token_num_uses: 3,
      token_strictly_bind_ip: true,
      token_type: 'service',
    };
    const written = await mount.write('config', {
      ...given,
      url: 'LDAP://One,ldaps://TWO',
      userattr: 'UID',
      request_timeout: '2m',
      connection_timeout: 5,
      token_ttl: '20m',
      token_max_ttl: '3600',
      token_period: 60,
      token_policies: 'B,a',
    });
    expect(written).toMatchObject({ status: 204, warnings: null });
    expect((await mount.read('config')).data).toEqual({
      ...given,
      bindpass_set: false,
      url: 'ldap://one,ldaps://two',
      userattr: 'uid',
      request_timeout: 120,
      connection_timeout: 5,
      token_ttl: 1200,
      token_max_ttl: 3600,
      token_period: 60,
      token_policies: ['a', 'b'],
      token_bound_cidrs: [],
    });
    expect((await mount.write('config', { token_strictly_bind_ip: false, token_bound_cidrs: ['10.0.0.0/8', '10.1.1.1/32'] })).status).toBe(
      204,
    );
    expect((await mount.read('config')).data).toMatchObject({ token_bound_cidrs: ['10.0.0.0/8', '10.1.1.1'] });
    await expect(mount.write('config', { token_strictly_bind_ip: true })).rejects.toThrow(
      "'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one",
    );
  });

  test('only what was sent changes, explicit empty texts too; policies is an older name of token_policies', async () => {
    await mount.write('config', { userdn: 'ou=people', groupdn: 'ou=groups', policies: 'base' });
    await mount.write('config', { groupdn: '' });
    expect((await mount.read('config')).data).toEqual({ ...defaults, userdn: 'ou=people', token_policies: ['base'] });
  });

  test('a userfilter without the user attribute is stored with a warning, also at later writes', async () => {
    const warning = 'userfilter configured does not consider userattr and may result in colliding entity aliases on logins';
    expect(await mount.write('config', { userfilter: '(nothing=here)' })).toMatchObject({ status: 200, warnings: [warning] });
    expect(await mount.write('config', { userdn: 'ou=people' })).toMatchObject({ status: 200, warnings: [warning] });
    expect(await mount.write('config', { userattr: 'nothing' })).toMatchObject({ status: 204 });
  });

  test('binddn: what is no name is stored with a warning, since Active Directory takes more than names', async () => {
    const { status, warnings } = await mount.write('config', { binddn: 'garbage' });
    expect({ status, warnings }).toEqual({
      status: 200,
      warnings: [expect.stringContaining('binddn: "garbage" is not a distinguished name')],
    });
    for (const binddn of ['cn=reader,dc=example', 'reader@corp.example', 'CORP\\reader', ''])
      expect(await mount.write('config', { binddn })).toMatchObject({ status: 204 });
  });

  test('a server on another machine that gets passwords in clear is warned of', async () => {
    const { warnings } = await mount.write('config', { url: 'ldap://dc1.example.org,ldaps://dc2.example.org' });
    expect(warnings).toEqual([expect.stringContaining('url: ldap://dc1.example.org is not encrypted')]);
    expect((await mount.write('config', { starttls: true })).warnings).toBeNull();
  });

  test('url: spaces around the commas do not count', async () => {
    await mount.write('config', { url: ' ldap://a, ldaps://b:636 ,' });
    expect((await mount.read('config')).data).toMatchObject({ url: 'ldap://a,ldaps://b:636' });
  });

  test('netbiosname: shown where it is set', async () => {
    await mount.write('config', { netbiosname: 'CORP' });
    expect((await mount.read('config')).data).toEqual({ ...defaults, netbiosname: 'CORP' });
    await mount.write('config', { netbiosname: '' });
    expect((await mount.read('config')).data).toEqual(defaults);
  });

  const refused: [data: Record<string, unknown>, text: string | RegExp][] = [
    [{ userfilter: '({{.UserAttr}' }, /^invalid userfilter: template: queryTemplate:1: /],
    [{ groupfilter: '(member={{.UserDN' }, 'invalid groupfilter: template: queryTemplate:1: unclosed action'],
    [{ tls_min_version: 'tls99' }, "invalid 'tls_min_version'"],
    [{ tls_max_version: '' }, "invalid 'tls_max_version'"],
    [{ tls_min_version: 'tls13' }, "'tls_max_version' must be greater than or equal to 'tls_min_version'"],
    [{ certificate: 'not pem' }, 'failed to parse server tls cert: failed to decode PEM block in the certificate'],
    [{ certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }, /^failed to parse server tls cert: /],
    [{ client_tls_cert: 'x' }, 'both client_tls_cert and client_tls_key must be set'],
    [{ client_tls_cert: 'x', client_tls_key: 'y' }, /^failed to parse client X509 key pair: client_tls_cert /],
    [{ token_ttl: '2h', token_max_ttl: '1h' }, "'token_ttl' cannot be greater than 'token_max_ttl'"],
    [{ token_type: 'zz' }, 'invalid \'token_type\' value "zz"'],
    [{ token_bound_cidrs: 'nowhere' }, /token_bound_cidrs/],
    [
      { request_timeout: 'abc' },
      'Field validation failed: error converting input for field "request_timeout": time: invalid duration "abc"',
    ],
    [{ max_page_size: -1 }, /max_page_size/],
    [{ max_page_size: 2 ** 31 }, /max_page_size/],
    [{ deny_null_bind: 'perhaps' }, /deny_null_bind/],
    [{ userfilter: '((' }, /^invalid userfilter: invalid LDAP filter: /],
    [{ userfilter: '({{.UserAttr}}=((' }, /^invalid userfilter: invalid LDAP filter: /],
    [{ userfilter: '({{.Nonsense}}={{.Username}})' }, /^invalid userfilter: template: queryTemplate:1.*Nonsense/],
    [{ userfilter: '({{.UserAttr}}={{.UserDN}})' }, /^invalid userfilter: .*UserDN/],
    [{ groupfilter: '((' }, /^invalid groupfilter: invalid LDAP filter: /],
    [{ groupfilter: '(member={{.UserAttr}})' }, /^invalid groupfilter: .*UserAttr/],
    [{ url: 'http://x' }, /^url: "http:\/\/x" is not an LDAP URL; write ldap:\/\/host/],
    [{ url: 'ldap://a b' }, /^url: /],
    [{ url: 'ldap://a, dc1.example.org' }, /^url: "dc1.example.org" is not an LDAP URL/],
    [{ url: '' }, /^url: at least one URL is needed/],
    [{ userdn: 'garbage' }, /^userdn: "garbage" is not a distinguished name/],
    [{ groupdn: 'ou=groups,garbage' }, /^groupdn: /],
    [{ userattr: 'u id' }, /^userattr: "u id" is not the name of an attribute/],
    [{ groupattr: '(cn)' }, /^groupattr: "\(cn\)" is not the name of an attribute/],
    [{ upndomain: '@corp.example' }, /^upndomain: "@corp.example" is not a domain/],
    [{ netbiosname: 'CORP\\' }, /^netbiosname: /],
    [{ netbiosname: 'longer-than-fifteen' }, /^netbiosname: /],
    [{ token_policies: 'a,Root' }, /^token_policies: no login can give the policy "root"/],
    [{ policies: ['root'] }, /^token_policies: no login can give the policy "root"/],
  ];
  test.each(refused)('%j is refused and changes nothing', async (data, text) => {
    const answer = await mount.call('update', 'auth/ldap/config', { data });
    expect(answer).toMatchObject({ status: 400, errors: [typeof text === 'string' ? text : expect.stringMatching(text)] });
    expect((await mount.read('config')).data).toEqual(defaults);
  });

  test('a URL with a password is refused without showing it', async () => {
    const { status, errors } = await mount.call('update', 'auth/ldap/config', { data: { url: 'ldap://reader:geheim@dc1' } });
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.not.stringContaining('geheim')] });
  });

  test('a key that does not belong to the client certificate is refused without being shown', async () => {
    const ca = createTestCa();
    const data = { client_tls_cert: ca.issue('one').cert, client_tls_key: ca.issue('two').key };
    const answer = await mount.call('update', 'auth/ldap/config', { data });
    expect(answer).toMatchObject({
      status: 400,
      errors: ['failed to parse client X509 key pair: the private key does not match the certificate'],
    });
  });

  test('it cannot be deleted', async () => {
    expect(await mount.call('delete', 'auth/ldap/config')).toMatchObject({ status: 405 });
  });
});

describe.each([
  ['groups', ':name'],
  ['users', ':username'],
])('%s', (kind, name) => {
  test(`LIST /auth/ldap/${kind}: names in order, lower-cased, page by page; none is 404`, async () => {
    expect(await mount.call('list', `auth/ldap/${kind}`)).toMatchObject({ status: 404, errors: [] });
    for (const name of ['Dev Ops', 'b', 'x/y', 'c']) await mount.write(`${kind}/${name}`, { policies: 'p' });
    expect(await mount.list(kind)).toMatchObject({ data: { keys: ['b', 'c', 'dev ops', 'x/y'] } });
    expect(await mount.list(kind, { after: 'b', limit: 2 })).toMatchObject({ data: { keys: ['c', 'dev ops'] } });
  });

  test(`POST and GET /auth/ldap/${kind}/${name}: policies are lower-cased, sorted and each once`, async () => {
    expect(await mount.write(`${kind}/Eng`, { policies: 'B,a, b' })).toMatchObject({ status: 204 });
    expect(await mount.read(`${kind}/eng`)).toMatchObject({ status: 200, data: { policies: ['a', 'b'] } });
    await mount.write(`${kind}/eng`, { policies: ['c'] });
    expect(await mount.read(`${kind}/ENG`)).toMatchObject({ data: { policies: ['c'] } });
    expect(await mount.call('read', `auth/ldap/${kind}/none`)).toMatchObject({ status: 404, errors: [] });
  });

  test(`DELETE /auth/ldap/${kind}/${name}: gone, and deleting again succeeds`, async () => {
    await mount.write(`${kind}/eng`, { policies: 'a' });
    expect(await mount.delete(`${kind}/Eng`)).toMatchObject({ status: 204 });
    expect(await mount.delete(`${kind}/eng`)).toMatchObject({ status: 204 });
    expect(await mount.call('read', `auth/ldap/${kind}/eng`)).toMatchObject({ status: 404 });
  });

  test('the policy root is refused, and the field is named', async () => {
    expect(await mount.call('update', `auth/ldap/${kind}/eng`, { data: { policies: 'a,ROOT' } })).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('policies: no login can give the policy "root"')],
    });
    expect(await mount.call('read', `auth/ldap/${kind}/eng`)).toMatchObject({ status: 404 });
  });

  test('case_sensitive_names keeps the case of names', async () => {
    await mount.write('config', { case_sensitive_names: true });
    await mount.write(`${kind}/Eng`, { policies: 'Up' });
    expect(await mount.list(kind)).toMatchObject({ data: { keys: ['Eng'] } });
    expect(await mount.call('read', `auth/ldap/${kind}/eng`)).toMatchObject({ status: 404 });
  });

  test('a name that no record can have is the fault of the caller', async () => {
    for (const name of ['x'.repeat(1_000), 'nul\0']) {
      expect(await mount.call('update', `auth/ldap/${kind}/${name}`, { data: {} })).toMatchObject({ status: 400 });
    }
  });
});

test('POST /auth/ldap/users/:username: groups are read back as one text', async () => {
  await mount.write('users/bob', { groups: ['Ops', 'dev'], policies: '' });
  expect(await mount.read('users/bob')).toMatchObject({ data: { groups: 'dev,ops', policies: [] } });
});
