import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';

/** Names the folder that has the store; absent while that is the root folder itself, as it is until a store is replaced. */
const POINTER = 'CURRENT';
const FILES = ['data.mdb', 'lock.mdb'];
/** Of this process: a number of a process may come again. */
const OWN = randomBytes(6).toString('hex');
/** Names this process in what it leaves behind. */
export const OWNER = `${process.pid}-${OWN}`;
const MADE = /^(?:store|copy)-(\d+)-([0-9a-f]{12})-[0-9a-f]{8}$/;

/** Where a store is, and how to see later that it is somewhere else. */
export interface Place {
  readonly folder: string;
  /** Of the pointer, which is never changed, only put in the place of another. */
  readonly stamp: string;
}

/** Where the store below a root folder is now. */
export function placeOf(root: string): Place {
  for (;;) {
    const stamp = stampOf(root);
    const name = stamp === '' ? '' : readFileSync(join(root, POINTER), 'utf8').trim();
    if (name !== '' && !MADE.test(name)) throw new StorageFailure(NAME, `the file ${POINTER} is damaged`);
    const folder = name === '' ? root : join(root, name);
    const missing = folder !== root && !statSync(folder, { throwIfNoEntry: false });
    if (stampOf(root) !== stamp) continue;
    // Made again it would be an empty store.
    if (missing) throw new StorageFailure(NAME, `the folder ${name} is missing, which the file ${POINTER} names`);
    return { folder, stamp };
  }
}

/** Changes with the place of the store. Cheap: asked at each commit. */
export function stampOf(root: string): string {
  const found = statSync(join(root, POINTER), { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mtimeMs}` : '';
}

/** A name for a folder below the root that nobody else uses. */
export function newName(kind: 'store' | 'copy'): string {
  return `${kind}-${OWNER}-${randomBytes(4).toString('hex')}`;
}

/** From here on the store is in the folder of that name, also after a loss of power. What is in it must be durable already. */
export function moveTo(root: string, name: string): void {
  const written = join(root, `${POINTER}.${name}`);
  writeFileSync(written, `${name}\n`, { mode: 0o600 });
  sync(written);
  sync(join(root, name));
  sync(root);
  renameSync(written, join(root, POINTER));
  sync(root);
}

/** Removes the files of a store that another has taken the place of. Who still has them open keeps them until it closes them. */
export function removeStore(root: string, folder: string): void {
  if (folder === root) for (const file of FILES) rmSync(join(root, file), { force: true });
  else rmSync(folder, { recursive: true, force: true });
}

/** Removes what processes that ended have left below the root: copies, replacements that were not finished, and stores that were replaced. */
export function removeLeftovers(root: string, current: string): void {
  for (const name of readdirSync(root)) {
    const made = MADE.exec(name.replace(`${POINTER}.`, ''));
    if (!made || join(root, name) === current || runs(Number(made[1]), made[2]!)) continue;
    rmSync(join(root, name), { recursive: true, force: true });
  }
  if (current !== root) removeStore(root, root);
}

/** Whether the process that a name of `OWNER` stands for may still run. */
export function ownerRuns(owner: string): boolean {
  const [pid, own = ''] = owner.split('-');
  return runs(Number(pid), own);
}

function runs(pid: number, own: string): boolean {
  if (pid === process.pid) return own === OWN;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
