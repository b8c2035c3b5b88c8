import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone when the file's tests are done. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-server-'));
  folders.push(folder);
  return folder;
}
