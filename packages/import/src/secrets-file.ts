import { ImportStopped } from './failures.ts';
import { isRecord, type JsonRecord } from './json.ts';

/** Secrets that no read shows, from the operator: by path at the source, then by field. */
export class SecretsFile {
  readonly #byPath: ReadonlyMap<string, JsonRecord>;

  constructor(byPath: ReadonlyMap<string, JsonRecord> = new Map()) {
    this.#byPath = byPath;
  }

  /** The values of the fields; {} where there are none. */
  of(path: string): JsonRecord {
    return this.#byPath.get(path) ?? {};
  }
}

/** `mode` is that of the file; only its owner may read it. @throws ImportStopped that names no value */
export function readSecretsFile(file: string, text: string, mode: number): SecretsFile {
  if ((mode & 0o077) !== 0)
    throw new ImportStopped(
      `The file of -secrets can be read by others (mode ${(mode & 0o777).toString(8).padStart(4, '0')}): chmod 600 ${file}`,
    );
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ImportStopped(`The file of -secrets is not JSON: ${file}`);
  }
  if (!isRecord(parsed)) throw new ImportStopped(`The file of -secrets must hold an object, by path: ${file}`);
  const byPath = new Map<string, JsonRecord>();
  for (const [path, fields] of Object.entries(parsed)) {
    if (!isRecord(fields)) throw new ImportStopped(`The file of -secrets must hold an object of fields at ${JSON.stringify(path)}`);
    byPath.set(path.replace(/^\/+|\/+$/g, ''), fields);
  }
  return new SecretsFile(byPath);
}
