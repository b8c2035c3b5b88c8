import { createPublicKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { transitEngine } from '../src/index.ts';

describe('certificates of keys', () => {
  let mount: TestMount;
  let folder: string;
  let authority: string;
  const at = (name: string): string => join(folder, name);
  const openssl = (...words: string[]): string => execFileSync('openssl', words, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

  beforeAll(async () => {
    mount = await mountForTest(transitEngine);
    folder = mkdtempSync(join(tmpdir(), 'strongroom-transit-'));
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'ca.key');
    openssl('req', '-x509', '-new', '-key', 'ca.key', '-subj', '/CN=authority', '-days', '30', '-out', 'ca.pem');
    authority = readFileSync(at('ca.pem'), 'utf8');
  });
  afterAll(async () => {
    await mount.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const csrOf = async (name: string, data: Record<string, unknown> = {}): Promise<string> =>
    ((await mount.write(`keys/${name}/csr`, data)).data as { csr: string }).csr;
  const refused = async (path: string, data: Record<string, unknown>): Promise<string> => {
    const { status, errors } = await mount.call('update', `transit/${path}`, { data });
    expect(status).toBe(400);
    return errors?.join() ?? '';
  };
  const issue = (csr: string): string => {
    writeFileSync(at('in.csr'), csr);
    return openssl('x509', '-req', '-in', 'in.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', '7', '-days', '9');
  };

  test.each(['rsa-2048', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519'])(
    'an authority issues one for the request of a key of the type %s, and the key shows it',
    async (type) => {
      await mount.write(`keys/${type}`, { type });
      const csr = await csrOf(type);
      writeFileSync(at('own.csr'), csr);
      expect(openssl('req', '-in', 'own.csr', '-verify', '-noout', '-subject').trim()).toBe('subject=');
      const certificate_chain = `${issue(csr)}${authority}`;
      const { data } = await mount.write(`keys/${type}/set-certificate`, { certificate_chain });
      expect(data).toEqual({ name: type, type, certificate_chain: certificate_chain.trimEnd() });
      const { keys } = (await mount.read(`export/certificate-chain/${type}`)).data as { keys: Record<string, string> };
      expect(keys).toEqual({ '1': certificate_chain.trimEnd() });
      const shown = (await mount.read(`keys/${type}`)).data as { keys: Record<string, { certificate_chain: string }> };
      expect(shown.keys['1']!.certificate_chain).toBe(keys['1']);
    },
  );

  test('a request has the subject and the extensions of a template, and the key of the server', async () => {
    await mount.write('keys/own', { type: 'ecdsa-p256' });
    openssl(
      'req',
      '-new',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      't.key',
      '-subj',
      '/CN=web/O=Org',
      '-addext',
      'subjectAltName=DNS:a.example',
      '-out',
      't.csr',
    );
    const csr = await csrOf('own', { csr: readFileSync(at('t.csr'), 'utf8') });
    writeFileSync(at('made.csr'), csr);
    const text = openssl('req', '-in', 'made.csr', '-verify', '-noout', '-text');
    expect(text).toContain('Subject: CN = web, O = Org');
    expect(text).toContain('DNS:a.example');
    const { subjectPKInfo } = AsnConvert.parse(
      Buffer.from(csr.split('-----')[2]!, 'base64'),
      CertificationRequest,
    ).certificationRequestInfo;
    const { keys } = (await mount.read('keys/own')).data as { keys: Record<string, { public_key: string }> };
    const made = createPublicKey({ key: Buffer.from(AsnConvert.serialize(subjectPKInfo)), format: 'der', type: 'spki' });
    expect(made.equals(createPublicKey(keys['1']!.public_key))).toBe(true);
  });

  test('what cannot be is refused with what would be right', async () => {
    await mount.write('keys/pair', { type: 'ecdsa-p256' });
    await mount.write('keys/other', { type: 'ecdsa-p256' });
    await mount.write('keys/rsa', { type: 'rsa-2048' });
    await mount.write('keys/aes', {});
    const own = issue(await csrOf('pair'));
    expect(new X509Certificate(own).ca).toBe(false);
    for (const [path, data, complaint] of [
      ['keys/none/csr', {}, 'not found'],
      ['keys/aes/csr', {}, 'does not support signing'],
      ['keys/pair/csr', { csr: 'x' }, 'could not decode PEM CSR'],
      ['keys/pair/csr', { csr: '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----' }, 'PKCS #10'],
      ['keys/pair/csr', { version: 9 }, 'no such key version'],
      ['keys/pair/set-certificate', {}, 'did not contain any valid PEM'],
      ['keys/pair/set-certificate', { certificate_chain: 'x' }, 'could not decode a PEM block'],
      ['keys/pair/set-certificate', { certificate_chain: authority }, 'first element'],
      ['keys/pair/set-certificate', { certificate_chain: own + own }, 'last element'],
      ['keys/rsa/set-certificate', { certificate_chain: own }, "does not match the transit key type 'rsa-2048'"],
      ['keys/other/set-certificate', { certificate_chain: own }, 'does not match the selected key version'],
      ['keys/pair/set-certificate', { certificate_chain: own, version: 2 }, 'no such key version'],
    ] as const)
      expect(await refused(path, data)).toContain(complaint);
  });
});
