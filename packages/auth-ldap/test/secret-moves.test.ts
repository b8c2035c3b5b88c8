import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestCa } from '@strongroom/lab';
import { mounted, type MountedLdap } from './mounted.ts';

const stored = {
  url: 'ldaps://dc1.example.org,ldaps://dc2.example.org',
  binddn: 'cn=reader,dc=example,dc=org',
  bindpass: 'stored-password',
  starttls: true,
  tls_max_version: 'tls13',
};
const ca = createTestCa();
const client = ca.issue('strongroom');

let mount: MountedLdap;

beforeEach(async () => {
  mount = await mounted();
  await mount.write('config', stored);
});
afterEach(() => mount.close());

async function write(data: Record<string, unknown>, capabilities = ['update']) {
  const policy = `path "auth/ldap/config" { capabilities = ${JSON.stringify(capabilities)} }`;
  await mount.call('update', 'sys/policies/acl/configurer', { data: { policy } });
  const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['configurer'] } })).auth!.client_token;
  return mount.call('update', 'auth/ldap/config', { data, token });
}

const moves: [parameter: string, data: Record<string, unknown>][] = [
  ['url', { url: 'ldaps://elsewhere.example.org' }],
  ['url', { url: `${stored.url},ldaps://elsewhere.example.org` }],
  ['url', { url: 'ldap://dc1.example.org' }],
  ['starttls', { starttls: false }],
  ['insecure_tls', { insecure_tls: true }],
  ['certificate', { certificate: ca.certificate }],
  ['tls_min_version', { tls_min_version: 'tls10' }],
  ['tls_max_version', { tls_max_version: 'tls12' }],
];

describe('POST /auth/ldap/config: the stored secrets go nowhere that they were not sent for', () => {
  test.each(moves)('another %s asks for bindpass again, and names both: %j', async (parameter, data) => {
    const before = (await mount.read('config')).data;
    const { status, errors } = await write(data);
    expect({ status, errors }).toEqual({
      status: 400,
      errors: [
        `${parameter}: a new value sends the stored bindpass to another address; send bindpass again, or use a token whose policy grants sudo on this path`,
      ],
    });
    expect((await mount.read('config')).data).toEqual(before);
    expect(await write({ ...data, bindpass: 'known' })).toMatchObject({ status: 204 });
    expect((await mount.read('config')).data).toMatchObject(data);
  });

  test('sudo on the path lets a caller move a secret without knowing it', async () => {
    expect(await write({ url: 'ldaps://elsewhere.example.org' }, ['update', 'sudo'])).toMatchObject({ status: 204 });
  });

  test('several changes are named at once, and the key of the client certificate counts as well', async () => {
    await mount.write('config', { client_tls_cert: client.cert, client_tls_key: client.key });
    const data = { url: 'ldaps://elsewhere.example.org', insecure_tls: true };
    const { errors } = await write(data);
    expect(errors![0]).toMatch(/^url, insecure_tls: .* stored bindpass and client_tls_key /);
    expect((await write({ ...data, bindpass: 'known' })).errors![0]).toMatch(/ stored client_tls_key .* send client_tls_key again/);
    expect(await write({ ...data, bindpass: 'known', client_tls_key: client.key })).toMatchObject({ status: 204 });
  });

  test.each([
    ['a server less, and another order', { url: 'ldaps://dc2.example.org' }],
    ['the same servers, written otherwise', { url: 'LDAPS://DC2.example.org, ldaps://dc1.example.org' }],
    ['more safety', { tls_min_version: 'tls13', starttls: true, insecure_tls: false }],
    ['another base', { userdn: 'ou=people,dc=example,dc=org' }],
    ['no secret left to send', { url: 'ldaps://elsewhere.example.org', bindpass: '' }],
  ])('%s asks for nothing', async (_what, data) => {
    expect(await write(data)).toMatchObject({ status: 204 });
  });

  test('without a stored secret there is nothing to ask for', async () => {
    await mount.write('config', { bindpass: '' });
    expect(await write({ url: 'ldaps://elsewhere.example.org' })).toMatchObject({ status: 204 });
  });
});
