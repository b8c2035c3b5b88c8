import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, jest } from '@jest/globals';
import { issueCertificate } from '../src/client-certificate.ts';
import { checkCredentialConfig } from '../src/credential-config.ts';
import { makeAuthority } from './authority.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('client certificates', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-ca-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const now = new Date();
  const authorities: Record<string, readonly string[]> = {
    rsa: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
    ec: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    ed25519: ['-algorithm', 'ed25519'],
  };
  const keys: [string, string, string][] = [
    ['rsa', '2048', 'rsa'],
    ['rsa', '3072', 'ec'],
    ['rsa', '4096', 'ed25519'],
    ['ec', '224', 'rsa'],
    ['ec', '', 'ec'],
    ['ec', '384', 'rsa'],
    ['ec', '521', 'ed25519'],
    ['ed25519', '', 'rsa'],
  ];
  test.each(keys)(
    'a key of type %s and size "%s" is signed by an %s authority, and openssl accepts it',
    async (key_type, key_bits, authority) => {
      const ca = makeAuthority(folder, authorities[authority]!);
      for (const signature_bits of ['', '384', '512']) {
        const config = { ...ca, key_type, key_bits, signature_bits };
        checkCredentialConfig('client_certificate', config);
        const issued = await issueCertificate({ config, commonName: 'v-äpp,1', now, expiresAt: new Date(now.getTime() + 3_600_000) });
        const certificate = new X509Certificate(issued.certificate);
        expect(certificate.checkIssued(new X509Certificate(ca.ca_cert))).toBe(true);
        expect(issued.subject).toBe('CN=v-äpp\\,1');
        expect(Date.parse(certificate.validTo)).toBe(Math.floor((now.getTime() + 3_600_000) / 1_000) * 1_000);
        const [ca_file, file] = [join(folder, 'ca.pem'), join(folder, 'client.pem')];
        writeFileSync(file, issued.certificate);
        writeFileSync(ca_file, ca.ca_cert);
        const said = execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', ca_file, file], {
          encoding: 'utf8',
        });
        expect(said).toContain('OK');
      }
    },
  );

  test('a certificate is not issued beyond the end of its authority', async () => {
    const config = { ...makeAuthority(folder, authorities['ec']!), key_type: 'ec' };
    const expiresAt = new Date(now.getTime() + 40 * 86_400_000);
    await expect(issueCertificate({ config, commonName: 'a', now, expiresAt })).rejects.toThrow('ca_cert ends on');
  });
});
