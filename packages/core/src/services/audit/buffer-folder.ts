import { randomBytes } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log } from '@strongroom/engine-sdk';
import { linuxProcesses, type ProcessFacts, type ProcessTable } from '../../kernel/incarnation/process-table.ts';
import { LineBuffer, syncFolder } from './line-buffer.ts';
import { makeFolder } from './make-folder.ts';

const OWNER = 'owner';
/** Milliseconds between two signs of life of a process that owns a buffer. */
export const HEARTBEAT = 5_000;
/** After which its buffer may be taken, where nobody can see whether the process lives. */
const DEAD = 60_000;

/** A buffer, and its right to be there. */
export interface OwnedBuffer {
  /** Stays the same whoever has it. */
  readonly id: string;
  readonly buffer: LineBuffer;
  /** Whether the folder still belongs to this process: another one takes over what it believes to be abandoned. */
  isMine(): Promise<boolean>;
  beat(): Promise<void>;
  /** Leaves what is left to whoever comes next; removes the folder where nothing is left. */
  leave(): Promise<void>;
}

/**
 * The folder in which a device keeps its lines. Each device of each process has a folder of its own there, so that servers and devices may share the
 * outer one. What a process left behind is taken over by the next that delivers to the same address.
 */
export class BufferFolder {
  readonly #path: string;
  /** Which address the lines are for. */
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #processes: ProcessTable;

  constructor(
    path: string,
    prefix: string,
    { clock, log, processes = linuxProcesses }: { clock: Clock; log: Log; processes?: ProcessTable },
  ) {
    this.#path = path;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#log = log;
    this.#processes = processes;
  }

  /** A new, empty buffer of this process. @throws where the folder cannot be written */
  async create(): Promise<OwnedBuffer> {
    await makeFolder(this.#path);
    const id = random();
    const name = `${this.#prefix}.${String(this.#clock.millis()).padStart(15, '0')}.${id}.0`;
    const draft = join(this.#path, `new.${random()}`);
    try {
      await mkdir(draft, { mode: 0o700 });
      await this.#sign(draft);
      await rename(draft, join(this.#path, name));
      await syncFolder(this.#path);
    } catch (error) {
      await rm(draft, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
    return this.#owned(id, join(this.#path, name));
  }

  /** Takes over what ended processes left for the same address, the oldest first. Never throws: what cannot be taken now is taken later. */
  async adopt(): Promise<OwnedBuffer[]> {
    const found: OwnedBuffer[] = [];
    const names = await readdir(this.#path).catch(() => []);
    for (const name of names.sort()) {
      const [prefix, time, id] = name.split('.');
      if (prefix !== this.#prefix || id === undefined || !(await this.#isLeft(join(this.#path, name)))) continue;
      try {
        const mine = join(this.#path, `${prefix}.${time}.${id}.${random()}`);
        await rename(join(this.#path, name), mine);
        await this.#sign(mine);
        const owned = await this.#owned(id, mine);
        if (owned.buffer.bytes > 0) found.push(owned);
        else await owned.leave();
      } catch (error) {
        // Another process was faster, or the disk fails: it stays where it is.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          this.#log.warn('a folder of undelivered audit lines cannot be taken over', { folder: name, error: (error as Error).message });
      }
    }
    return found;
  }

  async #owned(id: string, folder: string): Promise<OwnedBuffer> {
    const { buffer, cut } = await LineBuffer.open(folder);
    if (cut > 0) this.#log.warn('an audit line was cut off before it was acknowledged, and is left out', { folder, bytes: cut });
    const owner = join(folder, OWNER);
    return {
      id,
      buffer,
      isMine: async () =>
        access(owner).then(
          () => true,
          () => false,
        ),
      beat: async () => utimes(owner, this.#clock.now(), this.#clock.now()).catch(() => undefined),
      leave: async () => {
        if (buffer.bytes === 0) return buffer.remove();
        await buffer.close();
        await rm(owner, { force: true });
      },
    };
  }

  async #sign(folder: string): Promise<void> {
    const path = join(folder, OWNER);
    await writeFile(path, JSON.stringify(this.#processes.own()), { mode: 0o600 });
    await utimes(path, this.#clock.now(), this.#clock.now());
  }

  async #isLeft(folder: string): Promise<boolean> {
    const path = join(folder, OWNER);
    try {
      const exists = this.#processes.exists(JSON.parse(await readFile(path, 'utf8')) as ProcessFacts);
      if (exists !== undefined) return !exists;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      // Not written whole: its age tells.
    }
    const found = await stat(path).catch(() => undefined);
    return found === undefined || Math.abs(this.#clock.millis() - found.mtimeMs) > DEAD;
  }
}

function random(): string {
  return randomBytes(6).toString('hex');
}
