import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestCertificate {
  cert: string;
  key: string;
}

export interface TestCa {
  /** PEM of the CA's own certificate. */
  certificate: string;
  /** A certificate for `names` such as `DNS:localhost` or `IP:127.0.0.1`. */
  issue(commonName: string, names?: readonly string[]): TestCertificate;
}

/** A CA that lives as long as the test; nothing of it stays on disk. */
export function createTestCa(): TestCa {
  const openssl = (folder: string, ...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const inFolder = <T>(work: (folder: string) => T): T => {
    const folder = mkdtempSync(join(tmpdir(), 'test-ca-'));
    try {
      return work(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const [certificate, key] = inFolder((folder) => {
    openssl(folder, 'req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test CA');
    return [readFileSync(join(folder, 'ca.pem'), 'utf8'), readFileSync(join(folder, 'ca.key'), 'utf8')];
  });
  return {
    certificate,
    issue: (commonName, names = []) =>
      inFolder((folder) => {
        writeFileSync(join(folder, 'ca.pem'), certificate);
        writeFileSync(join(folder, 'ca.key'), key);
        writeFileSync(join(folder, 'ext'), `basicConstraints=CA:FALSE\n${names.length > 0 ? `subjectAltName=${names.join(',')}\n` : ''}`);
        openssl(folder, 'req', '-new', ...newKey, '-keyout', 'key', '-out', 'csr', '-subj', `/CN=${commonName}`);
        openssl(
          folder,
          'x509',
          '-req',
          '-in',
          'csr',
          '-CA',
          'ca.pem',
          '-CAkey',
          'ca.key',
          '-CAcreateserial',
          '-out',
          'cert',
          '-days',
          '2',
          '-extfile',
          'ext',
        );
        return { cert: readFileSync(join(folder, 'cert'), 'utf8'), key: readFileSync(join(folder, 'key'), 'utf8') };
      }),
  };
}
