import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';

const SHARED = 1;
const EXCLUSIVE = 2;
const WITHOUT_WAITING = 4;
const RELEASE = 8;

type Flock = (file: number, operation: number) => number;

/**
 * A lock on a file or a folder among all processes of one machine (`flock`), which can also be held by several holders of one process. The system releases it when
 * the process ends, however that happens. LMDB's own locks (`fcntl`) know nothing of it. Windows has no `flock`: every lock is granted there.
 */
export class FileLock {
  readonly #file: number;

  /** `path`: an existing file or folder. */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** Takes the lock unless somebody has it exclusively. @throws StorageFailure where the system does not lock this file */
  tryShared(): boolean {
    return this.#try(SHARED);
  }

  /** Takes the lock unless somebody else has it. @throws StorageFailure where the system does not lock this file */
  tryExclusively(): boolean {
    return this.#try(EXCLUSIVE);
  }

  release(): void {
    calls()?.flock(this.#file, RELEASE);
  }

  /** Also releases the lock. */
  close(): void {
    closeSync(this.#file);
  }

  #try(operation: number): boolean {
    const system = calls();
    if (!system || system.flock(this.#file, operation | WITHOUT_WAITING) === 0) return true;
    const code = system.errno();
    if (code === constants.errno.EWOULDBLOCK || code === constants.errno.EINTR) return false;
    throw new StorageFailure(NAME, `the file system of the folder cannot lock files (error ${code})`);
  }
}

let loaded: { readonly flock: Flock; errno(): number } | undefined;

function calls(): typeof loaded {
  if (process.platform === 'win32') return undefined;
  loaded ??= load();
  return loaded;
}

function load(): typeof loaded {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    return { flock: koffi.load(null).func('int flock(int file, int operation)') as Flock, errno: () => koffi.errno() };
  } catch {
    throw new StorageFailure(NAME, 'the package koffi, which locks the folder, cannot be loaded');
  }
}
