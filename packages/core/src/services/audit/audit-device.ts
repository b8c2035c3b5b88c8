import type { Clock, Log, Plugin } from '@strongroom/engine-sdk';

/** Somewhere that lines go. The broker calls `write` again only after the last one settled, and keeps the deadline. */
export interface AuditDevice {
  /**
   * Writes whole lines, in order, adding the newlines; resolves when the operating system has them.
   * @throws when any of them may be missing. The next call starts afresh, so that a device recovers by itself.
   */
  write(lines: readonly string[]): Promise<void>;
  /** Opens the destination anew: log rotation, SIGHUP. */
  reopen(): Promise<void>;
  /** Also ends a write that hangs. Idempotent. */
  close(): Promise<void>;
}

export interface AuditDeviceHost {
  readonly clock: Clock;
  readonly log: Log;
}

/** A type of audit device, as the server's list of plugins names it. */
export interface AuditDevicePlugin extends Plugin {
  readonly kind: 'audit';
  readonly apiVersion: 2;
  /** Complains about options before anything is touched. @throws BadRequest naming the option. */
  check(options: Readonly<Record<string, string>>): void;
  /** @throws when the destination cannot be opened; the broker tries again with the next line. */
  open(options: Readonly<Record<string, string>>, host: AuditDeviceHost): Promise<AuditDevice>;
}

/** Resolves after the time or when the signal aborts, whichever is first. */
export function pause(clock: Clock, millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.after(millis, done);
    function done(): void {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
