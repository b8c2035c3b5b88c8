import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and its certificate, both PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface TestCa {
  /** PEM of the CA's own certificate: what a client must trust. */
  readonly certificate: string;
  /** A certificate of a server on this machine: `localhost`, `127.0.0.1` and the names given. */
  issue(...names: readonly string[]): ServerCertificate;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A CA made with openssl. It lives as long as the object: nothing of it stays on disk. */
export function createTestCa(): TestCa {
  const [certificate, key] = inFolder((folder, openssl) => {
    openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Destination test CA');
    return [read(folder, 'ca.pem'), read(folder, 'ca.key')];
  });
  return {
    certificate,
    issue: (...names) =>
      inFolder((folder, openssl) => {
        const alternatives = ['DNS:localhost', 'IP:127.0.0.1', ...names.map((name) => `DNS:${name}`)].join(',');
        writeFileSync(join(folder, 'ca.pem'), certificate);
        writeFileSync(join(folder, 'ca.key'), key);
        writeFileSync(join(folder, 'ext'), `basicConstraints=CA:FALSE\nsubjectAltName=${alternatives}\n`);
        openssl('req', '-new', ...NEW_KEY, '-keyout', 'key', '-out', 'csr', '-subj', '/CN=localhost');
        const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'ext'];
        openssl('x509', '-req', '-in', 'csr', ...signer, '-out', 'cert', '-days', '2');
        return { cert: read(folder, 'cert'), key: read(folder, 'key') };
      }),
  };
}

function inFolder<Result>(work: (folder: string, openssl: (...args: string[]) => void) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'destination-ca-'));
  try {
    return work(folder, (...args) => {
      execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');
