import { chmodSync, chownSync, lstatSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import type { Listener, UnixListener } from '../config/configuration.ts';
import { ListenerFailed } from '../failures.ts';

/** Removes what killed servers left at the paths of these listeners. @throws ListenerFailed where somebody answers, or another file is in the way */
export async function freeSockets(listeners: readonly Listener[]): Promise<void> {
  for (const listener of listeners) if (listener.type === 'unix') await removeStaleSocket(listener.path);
}

/** Gives a socket that listens its owner and mode. @throws ListenerFailed */
export function restrict({ path, mode, uid, gid }: UnixListener): void {
  try {
    chmodSync(path, mode ?? 0o600);
    if (uid !== undefined || gid !== undefined) chownSync(path, uid ?? -1, gid ?? -1);
  } catch (error) {
    throw new ListenerFailed(`cannot set owner and mode of ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}

/** A socket that a killed server left is removed; one that somebody answers on is not, nor is any other file. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new ListenerFailed(`cannot listen on ${path}: there is a file of that name that is no socket`);
  const answered = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
  if (answered) throw new ListenerFailed(`cannot listen on ${path}: the address is in use: is another server running?`);
  unlinkSync(path);
}
