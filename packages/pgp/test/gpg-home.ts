import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@strongroom/lab';

/** Why there is no GnuPG here; undefined where there is. */
export const noGnuPg = findProgram('gpg') === undefined ? 'gpg is not installed' : undefined;

/** A GnuPG of its own, with the private keys of operators. */
export class GpgHome {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gpg-'));

  /** Makes a key without passphrase, and its subkey for encryption. `algorithm`: `rsa2048`, `future-default`. */
  generate(user: string, algorithm: string): void {
    this.#run(['--passphrase', '', '--quick-generate-key', user, algorithm, 'default', 'never']);
    if (algorithm.startsWith('rsa')) this.#run(['--passphrase', '', '--quick-add-key', this.fingerprint(user), algorithm, 'encr', 'never']);
  }

  export(user: string, ...options: string[]): Buffer {
    return this.#run([...options, '--export', user]);
  }

  exportPrivate(user: string): Buffer {
    return this.#run(['--export-secret-keys', user]);
  }

  fingerprint(user: string): string {
    const listed = this.#run(['--with-colons', '--list-keys', user]).toString();
    return /^fpr:+([0-9A-F]{40}):/m.exec(listed)![1]!.toLowerCase();
  }

  decrypt(message: Uint8Array): string {
    return this.#run(['--decrypt'], message).toString();
  }

  /** Ends the agent that GnuPG started, and removes the keys. */
  close(): void {
    execFileSync('gpgconf', ['--homedir', this.#folder, '--kill', 'all'], { stdio: 'ignore' });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(args: readonly string[], input?: Uint8Array): Buffer {
    return execFileSync('gpg', ['--homedir', this.#folder, '--batch', '--quiet', '--trust-model', 'always', ...args], {
      input,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  }
}
