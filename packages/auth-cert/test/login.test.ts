import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { makeCertificate, type CertificateOrder, type MadeCertificate } from '@strongroom/lab';
import { mounted, REFUSALS, type MountedCert } from './mounted.ts';

const utf8 = (text: string): Buffer => Buffer.concat([Buffer.from([0x0c, text.length]), Buffer.from(text)]);
const root = makeCertificate({ subject: 'CN=Root', authority: true });
const middle = makeCertificate({ subject: 'CN=Middle', issuer: root, authority: { pathLength: 0 } });
const other = makeCertificate({ subject: 'CN=Other', authority: true });
const client = (subject: string, order: Partial<CertificateOrder> = {}): MadeCertificate =>
  makeCertificate({ subject, issuer: root, ...order });
const alice = client('OU=eng,CN=alice', {
  names: ['DNS:alice.example.org', 'email:alice@example.org', 'URI:spiffe://lab/alice'],
  extensions: [
    { oid: '1.2.3.4.5', value: utf8('blue') },
    { oid: '1.2.3.4.6', value: Buffer.from([0x02, 0x01, 0x07]) },
  ],
});

describe('a login with a certificate', () => {
  let mount: MountedCert;
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem, token_policies: 'eng', token_ttl: '10m' });
  });
  afterEach(() => mount.close());

  test('gets a token with the policies of the role, and describes the certificate', async () => {
    await mount.write('certs/eng', { allowed_metadata_extensions: '1.2.3.4.5,1.2.3.4.6,1.9.9' });
    const { status, data, auth } = await mount.login(alice);
    expect({ status, data }).toEqual({ status: 200, data: null });
    const colons = expect.stringMatching(/^([0-9a-f]{2}:){19}[0-9a-f]{2}$/);
    expect(auth).toMatchObject({
      policies: ['default', 'eng'],
      lease_duration: 600,
      orphan: true,
      metadata: {
        cert_name: 'eng',
        common_name: 'alice',
        serial_number: alice.serial.toString(),
        subject_key_id: colons,
        authority_key_id: colons,
        '1-2-3-4-5': 'blue',
        '1-2-3-4-6': '020107',
      },
    });
    const self = await mount.call('read', 'auth/token/lookup-self', { token: auth!.client_token });
    expect(self.data).toMatchObject({ display_name: 'cert-eng', path: 'auth/cert/login' });
  });

  test('goes by a path of intermediates that came with the certificate', async () => {
    const below = client('CN=below', { issuer: middle });
    expect(await mount.login(below)).toMatchObject({ status: 200 });
    expect(await mount.login({ ...below, path: [below.der] })).toMatchObject(REFUSALS.untrusted);
    await mount.write('certs/eng', { certificate: root.pem + middle.pem });
    expect(await mount.login({ ...below, path: [below.der] })).toMatchObject({ status: 200 });
  });

  test('without a certificate, with one of another CA or of no CA is refused', async () => {
    expect(await mount.login(undefined)).toMatchObject(REFUSALS.none);
    expect(await mount.login(client('CN=alice', { issuer: other }))).toMatchObject(REFUSALS.untrusted);
    expect(await mount.login(makeCertificate({ subject: 'CN=alice' }))).toMatchObject(REFUSALS.untrusted);
    expect(await mount.login({ ...alice, path: [Buffer.from('no certificate')] })).toMatchObject({
      status: 400,
      errors: ["failed to verify client's certificate: it is not an X.509 certificate"],
    });
  });

  test('answers the same for a role that does not exist and for one of another CA', async () => {
    await mount.write('certs/ops', { certificate: other.pem, token_policies: 'ops' });
    expect(await mount.login(alice, { name: 'ops' })).toMatchObject(REFUSALS.untrusted);
    expect(await mount.login(alice, { name: 'nobody' })).toMatchObject(REFUSALS.untrusted);
    expect(await mount.login(alice, { name: '__proto__' })).toMatchObject(REFUSALS.untrusted);
    expect(await mount.login(alice, { name: 'ENG' })).toMatchObject({ status: 200 });
  });

  test('takes the first role that fits, in the order of names, and the refusal is that of the role that went furthest', async () => {
    await mount.write('certs/a', { certificate: other.pem, token_policies: 'a' });
    await mount.write('certs/b', { certificate: root.pem, allowed_common_names: 'bob', token_policies: 'b' });
    expect((await mount.login(alice)).auth?.metadata?.['cert_name']).toBe('eng');
    await mount.delete('certs/eng');
    expect(await mount.login(alice)).toMatchObject(REFUSALS.unfit);
    expect(mount.lines.at(-1)).toMatchObject({
      level: 'info',
      message: 'a certificate login was refused',
      fields: { role: 'b', step: 'names', error: 'allowed_common_names: no pattern fits "alice"' },
    });
  });

  test('is refused outside token_bound_cidrs', async () => {
    await mount.write('certs/eng', { token_bound_cidrs: '10.0.0.0/8' });
    expect(await mount.login(alice)).toMatchObject({ status: 403, errors: ['permission denied'] });
    expect(await mount.login(alice, {}, '10.1.2.3')).toMatchObject({ status: 200 });
  });

  test.each(['CN=al\nice', 'CN=al\0ice', 'CN=\u00a0alice'])('names no entity by %j', async (subject) => {
    const { status, errors } = await mount.login(client(subject));
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining('it cannot name an entity')] });
  });

  test('needs a common name, which is the name of the entity', async () => {
    expect(await mount.login(client('OU=eng'))).toMatchObject({ status: 400, errors: [expect.stringContaining('missing name in alias')] });
    const first = await mount.login(alice);
    expect((await mount.login(client('CN=alice'))).auth!.entity_id).toBe(first.auth!.entity_id);
    expect((await mount.login(client('CN=Alice'))).auth!.entity_id).not.toBe(first.auth!.entity_id);
  });

  test.each([
    [{ allowed_common_names: 'al*' }, true],
    [{ allowed_common_names: 'bob,al*' }, true],
    [{ allowed_common_names: 'AL*' }, false],
    [{ allowed_dns_sans: '*.example.org' }, true],
    [{ allowed_dns_sans: '*.org' }, true],
    [{ allowed_dns_sans: 'example.org' }, false],
    [{ allowed_email_sans: 'alice@*' }, true],
    [{ allowed_email_sans: 'bob@*' }, false],
    [{ allowed_uri_sans: 'spiffe://lab/*' }, true],
    [{ allowed_uri_sans: 'spiffe://other/*' }, false],
    [{ allowed_organizational_units: 'eng' }, true],
    [{ allowed_organizational_units: 'ops' }, false],
    [{ allowed_names: 'alice' }, true],
    [{ allowed_names: 'alice.example.org' }, true],
    [{ allowed_names: 'alice@example.org' }, true],
    [{ allowed_names: 'spiffe://lab/alice' }, false],
    [{ required_extensions: '1.2.3.4.5:bl*' }, true],
    [{ required_extensions: '1.2.3.4.5:red' }, false],
    [{ required_extensions: '1.2.3.4.5:blue,1.9.9:x' }, false],
    [{ required_extensions: '1.2.3.4.6:*' }, false],
  ])('with %j succeeds: %j', async (rules, succeeds) => {
    await mount.write('certs/eng', rules);
    expect(await mount.login(alice)).toMatchObject(succeeds ? { status: 200 } : REFUSALS.unfit);
  });
});

describe('a role with a single certificate', () => {
  let mount: MountedCert;
  const lonely = makeCertificate({ subject: 'CN=lonely' });
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('certs/solo', { certificate: lonely.pem, display_name: 'one of a kind', token_policies: 'solo' });
  });
  afterEach(() => mount.close());

  test('lets exactly this certificate in', async () => {
    expect((await mount.login(lonely)).auth).toMatchObject({ policies: ['default', 'solo'], metadata: { cert_name: 'solo' } });
  });

  test('lets no other in: of the same key, serial number and names, or with a foreign common name', async () => {
    expect(await mount.login(makeCertificate({ subject: 'CN=lonely', keyOf: lonely, serial: lonely.serial }))).toMatchObject(
      REFUSALS.untrusted,
    );
    expect(await mount.login(makeCertificate({ subject: 'CN=admin', keyOf: lonely, serial: lonely.serial }))).toMatchObject(
      REFUSALS.untrusted,
    );
    expect(await mount.login(makeCertificate({ subject: 'CN=child', issuer: lonely }))).toMatchObject(REFUSALS.untrusted);
  });

  test('does not let an expired certificate in', async () => {
    const short = makeCertificate({ subject: 'CN=short', notAfter: new Date('2030-01-01T01:00:00Z') });
    await mount.write('certs/short', { certificate: short.pem });
    expect(await mount.login(short)).toMatchObject({ status: 200 });
    await mount.advance('2h');
    expect(await mount.login(short)).toMatchObject({
      status: 400,
      errors: ["failed to verify client's certificate: the certificate has expired on 2030-01-01T01:00:00.000Z"],
    });
  });
});

describe('two CAs on a mount', () => {
  let mount: MountedCert;
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem });
  });
  afterEach(() => mount.close());
  const twin = client('CN=alice', { issuer: other });

  test('bring a warning, because equal common names are one entity', async () => {
    expect((await mount.write('certs/eng', { token_policies: 'eng' })).warnings).toBeNull();
    expect((await mount.write('certs/same', { certificate: root.pem })).warnings).toBeNull();
    const { warnings } = await mount.write('certs/ops', { certificate: other.pem });
    expect(warnings).toEqual([expect.stringContaining('trusts another CA')]);
    expect((await mount.login(twin)).auth!.entity_id).toBe((await mount.login(alice)).auth!.entity_id);
  });

  test('are kept apart by prefix_alias_with_issuer, by a key id that no CA can choose', async () => {
    await mount.write('config', { prefix_alias_with_issuer: true });
    expect((await mount.write('certs/ops', { certificate: other.pem })).warnings).toBeNull();
    expect((await mount.login(twin)).auth!.entity_id).not.toBe((await mount.login(alice)).auth!.entity_id);
    const { auth } = await mount.login(alice);
    const { data } = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
    expect((data as { aliases: { name: string }[] }).aliases[0]!.name).toMatch(/^[0-9a-f]{40}\/alice$/);
  });

  test('store metadata with the alias only where it is wanted', async () => {
    await mount.write('certs/eng', { allowed_metadata_extensions: '1.2.3.4.5' });
    const metadata = async (): Promise<unknown> => {
      const { auth } = await mount.login(alice);
      const { data } = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
      return (data as { aliases: { metadata: unknown }[] }).aliases[0]!.metadata;
    };
    expect(await metadata()).toBeNull();
    await mount.write('config', { enable_identity_alias_metadata: true });
    expect(await metadata()).toMatchObject({ '1-2-3-4-5': 'blue' });
  });
});
