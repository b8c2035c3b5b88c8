import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { FileLock } from '../file-lock.ts';
import type { Answer, Batch, Outcome } from './batch.ts';
import { framed, FrameReader } from './frames.ts';

/** With the version of what is said over it. */
const SOCKET = 'writer-1.sock';
const LOCK = 'writer-1.lock';
/** Bytes of the path of a socket: the system has room for so many. Node.js 20 cuts a longer one off, and thus names another file. */
const LONGEST_PATH = process.platform === 'darwin' ? 103 : 107;
const { O_CREAT, O_NOFOLLOW, O_RDONLY } = constants;

export function writerSocketIn(root: string): string {
  return join(root, SOCKET);
}

/** Why processes cannot meet at this folder; undefined where they can. */
export function reasonAgainstMeeting(root: string): string | undefined {
  const longest = LONGEST_PATH - SOCKET.length - 1;
  return Buffer.byteLength(writerSocketIn(root)) > LONGEST_PATH ? `the path of the folder is longer than ${longest} bytes` : undefined;
}

/** Takes the batches of other processes, in the one process of the store that does so. */
export class WriterServer {
  readonly #server: Server;
  readonly #lock: FileLock;
  readonly #sockets = new Set<Socket>();
  #closed: Promise<void> | undefined;

  private constructor(server: Server, lock: FileLock, apply: (batch: Batch) => Promise<Outcome>) {
    this.#server = server;
    this.#lock = lock;
    server.on('connection', (socket) => this.#serve(socket, apply));
  }

  /**
   * Undefined where another process takes them. A sender whose batch `apply` rejects is disconnected.
   * @throws an error of the system where the lock or the socket cannot be made
   */
  static async begin(root: string, apply: (batch: Batch) => Promise<Outcome>): Promise<WriterServer | undefined> {
    const lockFile = join(root, LOCK);
    closeSync(openSync(lockFile, O_CREAT | O_RDONLY | O_NOFOLLOW, 0o600));
    const lock = new FileLock(lockFile);
    try {
      if (lock.tryExclusively()) return new WriterServer(await listening(writerSocketIn(root)), lock, apply);
    } catch (error) {
      lock.close();
      throw error;
    }
    lock.close();
    return undefined;
  }

  /** Ends the connections, so that their owners write themselves. Batches under way are not waited for. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    this.#lock.close();
  }

  #serve(socket: Socket, apply: (batch: Batch) => Promise<Outcome>): void {
    const frames = new FrameReader();
    const answer = (number: number, outcome: Outcome): void => {
      if (!socket.destroyed) socket.write(framed({ number, outcome } satisfies Answer));
    };
    this.#sockets.add(socket);
    socket.unref();
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (piece) => {
      try {
        for (const batch of frames.read(piece) as Batch[])
          apply(batch).then(
            (outcome) => answer(batch.number, outcome),
            () => socket.destroy(),
          );
      } catch {
        // No batch: its sender is no driver.
        socket.destroy();
      }
    });
    answer(0, { kind: 'applied', results: [] });
  }
}

/** What a process that was killed has left there is removed: who has the lock is alone. The socket is for the owner of this process only. */
async function listening(path: string): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer();
  const mask = process.umask(0o077);
  try {
    // A worker of node:cluster would ask its parent for the socket.
    server.listen({ path, exclusive: true });
  } finally {
    process.umask(mask);
  }
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  server.removeAllListeners('error');
  server.on('error', () => undefined);
  return server.unref();
}
