import { write as writeCallback } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '@strongroom/engine-sdk';
import { pause } from './audit-device.ts';

const write = promisify(writeCallback);
const NEWLINE = 0x0a;
const RETRY_MILLIS = 20;

/** The part of `fs.write` that is used; tests bring a full disk. */
export type DescriptorWrite = (fd: number, bytes: Uint8Array, offset: number) => Promise<number>;

const systemWrite: DescriptorWrite = async (fd, bytes, offset) => (await write(fd, bytes, offset)).bytesWritten;

/** What stands between a batch of lines and a file descriptor: short writes, full pipes and torn lines. */
export class DescriptorWriter {
  readonly #clock: Clock;
  readonly #write: DescriptorWrite;
  #torn = false;

  constructor(clock: Clock, write: DescriptorWrite = systemWrite) {
    this.#clock = clock;
    this.#write = write;
  }

  /** The bytes of a batch. After a line that was cut off by an error they begin with a newline, so that only that line is lost. */
  batch(lines: readonly string[]): Batch {
    return { bytes: Buffer.from(`${this.#torn ? '\n' : ''}${lines.join('\n')}\n`), written: 0 };
  }

  /** Writes what is left of the batch. A full pipe is tried again until there is room; it holds no thread meanwhile. */
  async write(fd: number, batch: Batch, signal: AbortSignal): Promise<void> {
    while (batch.written < batch.bytes.length) {
      try {
        batch.written += await this.#write(fd, batch.bytes, batch.written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
          if (batch.written > 0) this.#torn = batch.bytes[batch.written - 1] !== NEWLINE;
          throw error;
        }
        await pause(this.#clock, RETRY_MILLIS, signal);
        if (signal.aborted) throw new Error('the device was closed', { cause: error });
      }
    }
    this.#torn = false;
  }

  /** What is written already ends within a line. */
  continueAfterCut(): void {
    this.#torn = true;
  }

  /** The descriptor belongs to another file now. */
  forget(): void {
    this.#torn = false;
  }
}

export interface Batch {
  readonly bytes: Uint8Array;
  written: number;
}
