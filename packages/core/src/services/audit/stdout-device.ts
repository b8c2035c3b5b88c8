import { close as closeCallback, constants, open as openCallback } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '@strongroom/engine-sdk';
import type { AuditDevice } from './audit-device.ts';
import { DescriptorWriter } from './descriptor-writer.ts';

const open = promisify(openCallback);
const close = promisify(closeCallback);

export interface Stdout {
  /** Reopened, so that it can be written without blocking and without changing the process's own descriptor. */
  readonly path: string;
  /** Used where the path cannot be opened: a socket, a dropped privilege. */
  readonly fd: number;
}

/** Lines to standard output. A reader that stops reading blocks neither the event loop nor, where the path opens, a thread. */
export async function stdoutDevice(clock: Clock, stdout: Stdout = { path: '/dev/stdout', fd: 1 }): Promise<AuditDevice> {
  const own = await open(stdout.path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK).catch(() => undefined);
  const writer = new DescriptorWriter(clock);
  const closing = new AbortController();
  let last: Promise<void> = Promise.resolve();
  return {
    write(lines) {
      if (closing.signal.aborted) return Promise.reject(new Error('the device was closed'));
      last = writer.write(own ?? stdout.fd, writer.batch(lines), closing.signal);
      return last;
    },
    reopen: () => Promise.resolve(),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await last.catch(() => {});
      if (own !== undefined) await close(own);
    },
  };
}

/** Takes everything, keeps nothing. */
export const discardDevice: AuditDevice = {
  write: () => Promise.resolve(),
  reopen: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
