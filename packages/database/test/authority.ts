import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A self-signed authority, made by openssl. */
export function makeAuthority(folder: string, algorithm: readonly string[]): { ca_cert: string; ca_private_key: string } {
  const [key, certificate] = [join(folder, 'ca.key'), join(folder, 'ca.pem')];
  execFileSync('openssl', ['genpkey', ...algorithm, '-out', key], { stdio: 'ignore' });
  execFileSync('openssl', [
    'req',
    '-x509',
    '-key',
    key,
    '-subj',
    '/O=Ünit/CN=test authority',
    '-utf8',
    '-addext',
    'keyUsage=critical,keyCertSign',
    '-days',
    '30',
    '-out',
    certificate,
  ]);
  return { ca_cert: readFileSync(certificate, 'utf8'), ca_private_key: readFileSync(key, 'utf8') };
}
