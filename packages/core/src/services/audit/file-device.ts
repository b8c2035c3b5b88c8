import * as fs from 'node:fs';
import { open as openFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { API_VERSION, BadRequest, type Clock, type Log } from '@strongroom/engine-sdk';
import type { AuditDevice, AuditDevicePlugin } from './audit-device.ts';
import { DescriptorWriter, type DescriptorWrite } from './descriptor-writer.ts';
import { makeFolder } from './make-folder.ts';
import { discardDevice, stdoutDevice } from './stdout-device.ts';

const open = promisify(fs.open);
const close = promisify(fs.close);
const fstat = promisify(fs.fstat);
const fchmod = promisify(fs.fchmod);

/** How often the file's name is compared with what is open. */
const LOOK_MILLIS = 1000;
const DEFAULT_MODE = 0o600;
const NEWLINE = 0x0a;
const FLAGS = fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_NONBLOCK;

export interface FileOptions {
  readonly path: string;
  /** Permission bits; 0 leaves an existing file as it is. */
  readonly mode: number;
}

/** @throws BadRequest naming the option. */
export function fileOptions(options: Readonly<Record<string, string>>): FileOptions {
  const path = options['file_path'] || options['path'];
  if (!path) throw new BadRequest('file_path is required');
  if (path.includes('\0')) throw new BadRequest('file_path cannot hold a NUL character');
  const mode = options['mode'] ?? '';
  if (mode !== '' && !/^0?[0-7]{1,4}$/.test(mode)) {
    throw new BadRequest(`mode ${JSON.stringify(mode)} is not valid; must be octal permissions such as "0600"`);
  }
  return { path, mode: mode === '' ? DEFAULT_MODE : Number.parseInt(mode, 8) & 0o666 };
}

/** Type `file`: `file_path`, `mode`. `stdout` and `discard` are names of their own. */
export const fileAudit: AuditDevicePlugin = {
  name: 'file',
  kind: 'audit',
  apiVersion: API_VERSION,
  check: (options) => void fileOptions(options),
  async open(options, { clock, log }) {
    const parsed = fileOptions(options);
    if (parsed.path === 'stdout') return stdoutDevice(clock);
    if (parsed.path === 'discard') return discardDevice;
    const device = new FileDevice(parsed, clock, log);
    await device.reopen();
    return device;
  },
};

/** Whether the last line was cut off, as by a full disk or the end of a machine. A file that cannot be read is taken as whole. */
async function endsWithinLine(path: string, size: number): Promise<boolean> {
  const file = await openFile(path, 'r').catch(() => undefined);
  if (!file) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return bytesRead === 1 && buffer[0] !== NEWLINE;
  } finally {
    await file.close();
  }
}

/** Appends to a file; notices within a second that it was moved or deleted, and goes on in a new one. A line that was cut off earlier is ended, so that only that line is lost. */
export class FileDevice implements AuditDevice {
  readonly #path: string;
  readonly #mode: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #writer: DescriptorWriter;
  readonly #closing = new AbortController();
  #file: { fd: number; dev: number; ino: number } | undefined;
  #looked = 0;
  #last: Promise<void> = Promise.resolve();

  constructor({ path, mode }: FileOptions, clock: Clock, log: Log, write?: DescriptorWrite) {
    this.#path = path;
    this.#mode = mode;
    this.#clock = clock;
    this.#log = log;
    this.#writer = new DescriptorWriter(clock, write);
  }

  write(lines: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      if (await this.#isGone()) {
        this.#log.warn('audit file was moved or deleted; opening it again', { path: this.#path });
        await this.#open();
      }
      const file = this.#file ?? (await this.#open());
      const batch = this.#writer.batch(lines);
      try {
        await this.#writer.write(file.fd, batch, this.#closing.signal);
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        const after = await this.#open();
        if (after.ino !== file.ino || after.dev !== file.dev) batch.written = 0;
        await this.#writer.write(after.fd, batch, this.#closing.signal);
      }
    });
  }

  reopen(): Promise<void> {
    return this.#inTurn(async () => void (await this.#open()));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#last;
    await this.#release();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(() => {
      if (this.#closing.signal.aborted) throw new Error('the device was closed');
      return work();
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Opened without blocking: a pipe that nobody reads is an error, not a stuck thread. */
  async #open(): Promise<{ fd: number; dev: number; ino: number }> {
    const before = this.#file;
    await this.#release();
    let fd: number | undefined;
    try {
      await makeFolder(dirname(this.#path));
      fd = await open(this.#path, FLAGS, this.#mode || DEFAULT_MODE);
      const found = await fstat(fd);
      if (found.isFile() && this.#mode !== 0 && (found.mode & 0o7777) !== this.#mode) await fchmod(fd, this.#mode);
      if (found.ino !== before?.ino || found.dev !== before.dev) {
        this.#writer.forget();
        if (found.isFile() && found.size > 0 && (await endsWithinLine(this.#path, found.size))) this.#writer.continueAfterCut();
      }
      this.#looked = this.#clock.millis();
      this.#file = { fd, dev: found.dev, ino: found.ino };
      return this.#file;
    } catch (error) {
      if (fd !== undefined) await close(fd);
      throw new Error(`unable to open ${JSON.stringify(this.#path)} for writing: ${(error as Error).message}`, { cause: error });
    }
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file) await close(file.fd).catch(() => {});
  }

  async #isGone(): Promise<boolean> {
    const now = this.#clock.millis();
    if (!this.#file) return false;
    if (now - this.#looked < LOOK_MILLIS && now >= this.#looked) return false;
    this.#looked = now;
    const found = await stat(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    return found?.ino !== this.#file.ino || found.dev !== this.#file.dev;
  }
}
