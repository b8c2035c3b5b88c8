import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PidFileFailed } from './failures.ts';

/** Writes this process's number; what it returns removes the file, unless another process has written its own since. @throws PidFileFailed */
export function writePidFile(path: string): () => void {
  const own = `${process.pid}\n`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, own, { mode: 0o644 });
  } catch (error) {
    throw new PidFileFailed(`pid_file ${path} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
  return () => {
    try {
      if (readFileSync(path, 'utf8') === own) rmSync(path);
    } catch {
      // It is gone already.
    }
  };
}
