import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  API_VERSION,
  BadRequest,
  f,
  UpstreamFailed,
  type SnapshotPlace,
  type SnapshotStorage,
  type SnapshotStoragePlugin,
  type StagedSnapshot,
  type StoredSnapshot,
} from '@strongroom/engine-sdk';

/** Scheduled snapshots in a folder of the server: `storage_type` `local`. */
export const localSnapshots: SnapshotStoragePlugin = {
  kind: 'snapshot-storage',
  name: 'local',
  apiVersion: API_VERSION,
  fields: { local_max_space: f.int('Of `local`: bytes that the snapshots of the series may take together; 0, the default, for any.') },
  address: [],
  check: ({ pathPrefix, settings }) => {
    if (!isAbsolute(pathPrefix) || pathPrefix.includes('\0')) throw new BadRequest('path_prefix must be the absolute path of a folder');
    if (Number(settings['local_max_space'] ?? 0) < 0) throw new BadRequest('local_max_space must not be negative');
  },
  open: async (place) => new LocalFolder(place),
};

/** A folder. What is being written has the name of its snapshot with a dot before and `.partial` behind. */
class LocalFolder implements SnapshotStorage {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #maxSpace: number;

  constructor({ pathPrefix, filePrefix, settings }: SnapshotPlace) {
    this.#folder = normalize(pathPrefix);
    this.#prefix = filePrefix;
    this.#maxSpace = Number(settings['local_max_space'] ?? 0);
  }

  url(name: string): string {
    return pathToFileURL(this.#path(name)).href;
  }

  async list(): Promise<StoredSnapshot[]> {
    return this.#said(async () => {
      const names = (await readdir(this.#folder)).filter((name) => name.startsWith(this.#prefix));
      const found: StoredSnapshot[] = [];
      for (const name of names) {
        const file = await stat(this.#path(name)).catch(() => undefined);
        if (file?.isFile()) found.push({ name, bytes: file.size });
      }
      return found;
    });
  }

  async write(name: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StagedSnapshot> {
    const partial = this.#partial(name);
    const room = this.#maxSpace > 0 ? this.#maxSpace - (await this.list()).reduce((sum, { bytes }) => sum + bytes, 0) : Infinity;
    const hash = createHash('sha256');
    let bytes = 0;
    return this.#said(async () => {
      const file = await open(partial, 'wx', 0o600);
      try {
        for await (const piece of pieces) {
          signal.throwIfAborted();
          bytes += piece.length;
          if (bytes > room)
            throw new UpstreamFailed(`the snapshots of the series would take more than local_max_space, ${this.#maxSpace} bytes`);
          hash.update(piece);
          await file.writeFile(piece);
        }
        signal.throwIfAborted();
        await file.sync();
      } catch (error) {
        await file.close();
        await rm(partial, { force: true });
        throw error;
      }
      await file.close();
      const digest = hash.digest();
      const discard = async (): Promise<void> => this.#said(async () => rm(partial, { force: true }));
      const commit = async (limit: AbortSignal): Promise<void> =>
        this.#said(async () => {
          try {
            if (!digest.equals(await digestOf(partial, limit))) throw new UpstreamFailed('the file was not stored as it was written');
            await rename(partial, this.#path(name));
          } catch (error) {
            await rm(partial, { force: true });
            throw error;
          }
          await this.#sync();
        });
      return { bytes, commit, discard };
    });
  }

  async remove(name: string): Promise<void> {
    await this.#said(async () => rm(this.#path(name), { force: true }));
  }

  async clear(name: string): Promise<void> {
    await this.#said(async () => rm(this.#partial(name), { force: true }));
    await this.remove(name);
  }

  close(): void {
    // Nothing is open between two calls.
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #partial(name: string): string {
    return join(this.#folder, `.${name}.partial`);
  }

  /** The names in the folder are on the disk. */
  async #sync(): Promise<void> {
    const folder = await open(this.#folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Failures of the folder name it. */
  async #said<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined || error instanceof UpstreamFailed) throw error;
      const why = code === 'ENOENT' ? 'it is not there' : message;
      throw new UpstreamFailed(`the folder ${this.#folder} of this server cannot be used: ${why}`, { cause: error });
    }
  }
}

async function digestOf(path: string, signal: AbortSignal): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20, signal })) hash.update(piece as Buffer);
  return hash.digest();
}
