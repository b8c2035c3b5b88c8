import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The certificates of authorities in a file of their own: the driver takes paths only, and reads them for every connection. */
export class AuthorityFile {
  readonly path: string;
  readonly #folder: string;
  readonly #remove = (): void => rmSync(this.#folder, { recursive: true, force: true });

  constructor(pem: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'strongroom-neo4j-'));
    this.path = join(this.#folder, 'authorities.pem');
    writeFileSync(this.path, pem, { mode: 0o600 });
    process.once('exit', this.#remove);
  }

  /** Idempotent. */
  remove(): void {
    process.removeListener('exit', this.#remove);
    this.#remove();
  }
}
