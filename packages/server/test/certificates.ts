import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface IssuedFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate authority for tests, in files of one folder. */
export class TestAuthority {
  readonly caFile: string;
  readonly #folder: string;
  readonly #keyFile: string;

  constructor(folder: string, name = 'ca') {
    this.#folder = folder;
    this.caFile = join(folder, `${name}.pem`);
    this.#keyFile = join(folder, `${name}.key`);
    openssl('req', '-x509', ...NEW_KEY, '-keyout', this.#keyFile, '-out', this.caFile, '-days', '2', '-subj', `/CN=${name}`);
  }

  /** For 127.0.0.1 and localhost, under this common name. */
  issue(name: string): IssuedFiles {
    const at = (ending: string): string => join(this.#folder, `${name}.${ending}`);
    writeFileSync(at('ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
    openssl('req', ...NEW_KEY, '-keyout', at('key'), '-out', at('csr'), '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      at('csr'),
      '-CA',
      this.caFile,
      '-CAkey',
      this.#keyFile,
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      at('ext'),
      '-out',
      at('pem'),
    );
    return { certFile: at('pem'), keyFile: at('key') };
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...words: string[]): void {
  execFileSync('openssl', words, { stdio: 'ignore' });
}
