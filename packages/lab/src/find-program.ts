import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where servers are that Debian keeps off the path of ordinary users. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/go/bin'];

/** The path of a program, if it is installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...MORE_FOLDERS].filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(executable);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
