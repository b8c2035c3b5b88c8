import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { makeCertificate, makeRevocationList, startRevocationServer } from '@strongroom/lab';
import { mounted, type MountedCert } from './mounted.ts';

const root = makeCertificate({ subject: 'CN=Root', authority: true });
const other = makeCertificate({ subject: 'CN=Other', authority: true });
const alice = makeCertificate({ subject: 'OU=eng,CN=alice', issuer: root, names: ['DNS:alice.example.org'] });

interface Report {
  readonly ok: boolean;
  readonly certificate: unknown;
  readonly roles: readonly {
    readonly role: string;
    readonly ok: boolean;
    readonly alias?: string;
    readonly policies?: readonly string[];
    readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly error?: string; readonly note?: string }[];
  }[];
}

describe('config/test', () => {
  let mount: MountedCert;
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem, token_policies: 'eng' });
  });
  afterEach(() => mount.close());
  const run = async (data: Record<string, unknown>): Promise<Report> =>
    (await mount.write('config/test', { client_certificate: alice.chain, ...data })).data as Report;
  /** Where the only role failed. */
  const failure = async (data: Record<string, unknown>): Promise<unknown> => {
    const { roles } = await run({ name: 'eng', ...data });
    expect(roles[0]!.ok).toBe(false);
    const { step, error } = roles[0]!.steps.at(-1)!;
    return [step, error];
  };

  test('shows the certificate, and each step of each role', async () => {
    await mount.write('certs/ops', { certificate: other.pem, token_policies: 'ops' });
    const { ok, certificate, roles } = await run({});
    expect(ok).toBe(true);
    expect(certificate).toEqual({
      common_name: 'alice',
      serial_number: alice.serial.toString(),
      not_before: '2020-01-01T00:00:00.000Z',
      not_after: '2049-12-31T00:00:00.000Z',
      dns_sans: ['alice.example.org'],
      email_sans: [],
      uri_sans: [],
      organizational_units: ['eng'],
      came_with: 0,
    });
    expect(roles[0]).toMatchObject({ role: 'eng', ok: true, alias: 'alice', policies: ['default', 'eng'] });
    expect(roles[0]!.steps.map(({ step }) => step)).toEqual([
      'path',
      'validity',
      'usage',
      'names',
      'extensions',
      'revocation list',
      'ocsp',
      'policies',
    ]);
    expect(roles[0]!.steps[0]).toMatchObject({ authority: 'Root', length: 2 });
    expect(roles[1]).toMatchObject({
      role: 'ops',
      ok: false,
      steps: [{ step: 'path', ok: false, error: expect.stringContaining('the certificate was issued by "Root"'), fault: false }],
    });
  });

  test('names the step that fails', async () => {
    const of = (order: Parameters<typeof makeCertificate>[0]): Record<string, unknown> => ({
      client_certificate: makeCertificate({ issuer: root, ...order }).chain,
    });
    expect(await failure(of({ subject: 'CN=a', notAfter: new Date('2021-01-01') }))).toEqual([
      'validity',
      'the certificate has expired on 2021-01-01T00:00:00.000Z',
    ]);
    expect(await failure(of({ subject: 'CN=a', extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'] }))).toEqual([
      'usage',
      'the extended key usage of the certificate does not have clientAuth',
    ]);
    expect(await failure({ allowed_common_names: 'bob' })).toEqual(['names', 'allowed_common_names: no pattern fits "alice"']);
    expect(await failure({ allowed_email_sans: '*' })).toEqual(['names', 'allowed_email_sans: the certificate has no such name']);
    expect(await failure({ required_extensions: '1.2.3:x' })).toEqual([
      'extensions',
      'required_extensions: the certificate has no extension 1.2.3',
    ]);
    expect(await failure({ ocsp_enabled: true, ocsp_servers_override: 'http://127.0.0.1:1' })).toEqual([
      'ocsp',
      'the OCSP responder 127.0.0.1:1 could not be reached: ECONNREFUSED',
    ]);
    const nameless = of({ subject: 'OU=eng' });
    expect(await failure(nameless)).toEqual(['policies', expect.stringContaining('no common name')]);
    const list = makeRevocationList(root, { revoked: [alice], thisUpdate: new Date('2029-12-31'), nextUpdate: new Date('2031-01-01') });
    await mount.write('crls/root', { crl: list.toString('base64') });
    expect(await failure({})).toEqual(['revocation list', 'the certificate is revoked']);
  });

  test('says what ocsp_fail_open lets pass', async () => {
    const { roles } = await run({ name: 'eng', ocsp_enabled: true, ocsp_fail_open: true, ocsp_servers_override: 'http://127.0.0.1:1' });
    expect(roles[0]).toMatchObject({ ok: true });
    expect(roles[0]!.steps.find(({ step }) => step === 'ocsp')!.note).toContain(
      'allowed by ocsp_fail_open: the OCSP responder 127.0.0.1:1',
    );
    const server = await startRevocationServer(root, () => mount.clock.now());
    const good = await run({ name: 'eng', ocsp_enabled: true, ocsp_servers_override: `${server.url}/ocsp` });
    expect(good.roles[0]!.steps.find(({ step }) => step === 'ocsp')).toMatchObject({ ok: true });
    await server.stop();
  });

  test('tries a role that is not stored, and stores nothing', async () => {
    const { roles } = await run({ certificate: other.pem + root.pem, token_policies: 'new', token_no_default_policy: true });
    expect(roles).toMatchObject([{ role: 'request', ok: true, policies: ['new'] }]);
    expect((await mount.list('certs')).data).toEqual({ keys: ['eng'] });
  });

  test('takes the certificate of the caller if none is sent', async () => {
    const data = { name: 'eng' };
    const answer = await mount.call('update', 'auth/cert/config/test', { data, certificates: alice.path });
    expect(answer.data).toMatchObject({ ok: true });
    expect(await mount.call('update', 'auth/cert/config/test', { data })).toMatchObject({
      status: 400,
      errors: ['no client certificate found'],
    });
  });

  test.each([
    [{ client_certificate: 'zz' }, 'client_certificate: no certificate in PEM'],
    [{ name: 'none' }, 'name: there is no role "none"'],
    [{ name: 'eng', required_extensions: 'zz' }, 'required_extensions: "zz" is not an OID and a pattern, such as "1.2.3.4.5:blue*"'],
  ])('refuses %j', async (data, text) => {
    const answer = await mount.call('update', 'auth/cert/config/test', { data: { client_certificate: alice.chain, ...data } });
    expect(answer).toMatchObject({ status: 400, errors: [text] });
  });

  test('needs sudo, because it tells which roles there are', async () => {
    const policy = 'path "auth/cert/config/test" { capabilities = ["update"] }';
    await mount.call('update', 'sys/policies/acl/tester', { data: { policy } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } });
    const token = made.auth!.client_token;
    const data = { client_certificate: alice.chain };
    expect(await mount.call('update', 'auth/cert/config/test', { data, token })).toMatchObject({ status: 403 });
    await mount.call('update', 'sys/policies/acl/tester', { data: { policy: policy.replace('"update"', '"update", "sudo"') } });
    expect(await mount.call('update', 'auth/cert/config/test', { data, token })).toMatchObject({ status: 200 });
  });
});

describe('a role', () => {
  let mount: MountedCert;
  beforeEach(async () => {
    mount = await mounted();
  });
  afterEach(() => mount.close());
  const serverOnly = makeCertificate({ subject: 'CN=s', extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'] });

  test.each([
    [{}, 'failed to parse certificate'],
    [{ certificate: 'zz' }, 'failed to parse certificate'],
    [
      { certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'failed to parse certificate: it is not an X.509 certificate',
    ],
    [{ certificate: serverOnly.pem }, 'nonCA certificates should have TLS client authentication set as an extended key usage'],
    [{ certificate: root.pem + alice.pem }, 'certificate: the first certificate is a CA, so all must be; certificate 2 is none'],
    [{ required_extensions: '1.2.3' }, 'required_extensions: "1.2.3" is not an OID and a pattern, such as "1.2.3.4.5:blue*"'],
    [{ required_extensions: 'a.b:x' }, 'required_extensions: "a.b:x" is not an OID and a pattern, such as "1.2.3.4.5:blue*"'],
    [{ allowed_metadata_extensions: 'blue' }, 'allowed_metadata_extensions: "blue" is not an OID, such as "1.2.3.4.5"'],
    [{ ocsp_servers_override: 'ocsp.example.org' }, 'ocsp_servers_override: "ocsp.example.org" is not a URL with http or https'],
    [{ ocsp_ca_certificates: 'zz' }, 'ocsp_ca_certificates: no certificate in PEM'],
    [{ token_policies: 'root' }, expect.stringContaining('token_policies: no login can give the policy "root"')],
    [{ token_ttl: '2h', token_max_ttl: '1h' }, "'token_ttl' cannot be greater than 'token_max_ttl'"],
  ])('%# is refused', async (data, text) => {
    const certificate = 'certificate' in data || Object.keys(data).length === 0 ? {} : { certificate: root.pem };
    expect(await mount.call('update', 'auth/cert/certs/x', { data: { ...certificate, ...data } })).toMatchObject({
      status: 400,
      errors: [text],
    });
  });

  test('changes only by what a write contains, and reads with its old names', async () => {
    await mount.write('certs/Web', { certificate: root.pem, allowed_common_names: 'a*', policies: 'Web', ttl: '5m' });
    await mount.write('certs/web', { display_name: 'shop' });
    expect((await mount.read('certs/WEB')).data).toMatchObject({
      allowed_common_names: ['a*'],
      allowed_dns_sans: null,
      certificate: root.pem,
      display_name: 'shop',
      policies: ['web'],
      token_policies: ['web'],
      ttl: 300,
      token_ttl: 300,
    });
  });

  test('warns of a lifetime beyond that of the mount', async () => {
    const { warnings } = await mount.write('certs/web', { certificate: root.pem, token_ttl: '2000h', token_max_ttl: '3000h' });
    expect(warnings).toEqual([
      expect.stringContaining('Given ttl of 7200000 seconds'),
      expect.stringContaining('Given max_ttl of 10800000'),
    ]);
  });

  test('needs the capability update for every write', async () => {
    await mount.call('update', 'sys/policies/acl/writer', { data: { policy: 'path "auth/cert/certs/*" { capabilities = ["update"] }' } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } });
    const answer = await mount.call('update', 'auth/cert/certs/new', { data: { certificate: root.pem }, token: made.auth!.client_token });
    expect(answer.errors).toBeUndefined();
  });
});
