import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Complaints } from './complaints.ts';

/** The text of one configuration file. */
export interface ConfigurationText {
  readonly file: string;
  readonly text: string;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads files, and of folders the `.hcl` and `.json` files, by name. What cannot be read is complained about. */
export function readSources(paths: readonly string[], complaints: Complaints): ConfigurationText[] {
  return paths.flatMap((path) => filesAt(path, complaints).flatMap((file) => textOf(file, complaints)));
}

function filesAt(path: string, complaints: Complaints): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => /^[^.].*\.(?:hcl|json)$/.test(name));
    if (names.length === 0) complaints.add({ file: path, line: 0 }, 'the folder holds no .hcl or .json file');
    return names.toSorted().map((name) => join(path, name));
  } catch (error) {
    complaints.add({ file: path, line: 0 }, unreadable(error));
    return [];
  }
}

function textOf(file: string, complaints: Complaints): ConfigurationText[] {
  try {
    const bytes = readFileSync(file);
    if (bytes.length <= MAX_BYTES) return [{ file, text: bytes.toString() }];
    complaints.add({ file, line: 0 }, 'is too large for a configuration: more than 4 MiB');
  } catch (error) {
    complaints.add({ file, line: 0 }, unreadable(error));
  }
  return [];
}

function unreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'there is no such file or folder' : `cannot be read: ${code ?? String(error)}`;
}
