import { StorageFailure } from '@strongroom/storage-sdk';

export const NAME = 'lmdb';
const FULL = 'the disk is full';

const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/No space left|ENOSPC|Disk quota|EDQUOT|File too large|EFBIG|error code 27\b|error code 28\b|error code 122\b/i, FULL],
  [/MDB_MAP_FULL/, 'the store has reached its largest size'],
  [/MDB_INVALID|MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_BAD_CHECKSUM/, 'the file is damaged or is not an LMDB store'],
  [/MDB_VERSION_MISMATCH/, 'the file was written by an incompatible version of LMDB'],
  [/MDB_READERS_FULL/, 'too many processes read the store at once'],
  // LMDB reports a write that was cut short as an input/output error.
  [/MDB_PANIC|Input\/output error|EIO/, 'the disk is full or has failed'],
  [/Permission denied|EACCES|Operation not permitted|EPERM/, 'permission to the folder or its files is denied'],
  [/Read-only file system|EROFS/, 'the file system is read-only'],
  [/Cannot allocate memory|ENOMEM/, 'there is not enough address space or memory'],
  [/Not a directory|ENOTDIR|EEXIST/, 'the path is not a folder'],
];

export function diskFull(): StorageFailure {
  return new StorageFailure(NAME, FULL, { full: true });
}

/** What an error of LMDB or the file system means, in plain words. */
export function asFailure(error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  const reason = PLAIN.find(([pattern]) => pattern.test(text))?.[1];
  return new StorageFailure(NAME, reason ?? text, { full: reason === FULL });
}

/** LMDB's writer rejects with an error that only points to the cause, which may come later. */
export async function causeOf(error: unknown): Promise<unknown> {
  const cause = (error as { commitError?: Promise<unknown> } | null)?.commitError;
  return cause ? cause.then(() => error).catch((reason: unknown) => reason) : error;
}

/** Whether a write failed before any of it, or of the others in its transaction, reached the file. */
export function leftNothing(error: unknown): boolean {
  return error instanceof Error && /MDB_NOTFOUND|MDB_BAD_TXN|MDB_BAD_VALSIZE/.test(error.message);
}
