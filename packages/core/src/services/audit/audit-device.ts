import type { Clock, Log, Plugin } from '@strongroom/engine-sdk';

/** Somewhere that lines go. The broker calls `write` again only after the last one settled, and keeps the deadline. */
export interface AuditDevice {
  /**
   * Writes whole lines, in order, adding the newlines; resolves when the operating system has them.
   * @throws when any of them may be missing. The next call starts afresh, so that a device recovers by itself.
   */
  write(lines: readonly string[]): Promise<void>;
  /** Reopens the destination: log rotation, SIGHUP. */
  reopen(): Promise<void>;
  /** Also ends a write that hangs. Idempotent. */
  close(): Promise<void>;
  /** In place of the first write of a new device: shows that lines arrive, where a write that resolves does not. */
  probe?(lines: readonly string[]): Promise<void>;
  /** Of a device that keeps what it wrote until it is delivered; undefined for others. */
  buffer?(): BufferStatus | undefined;
}

/** What waits for delivery, and how deliveries fare. Counts begin with the process. */
export interface BufferStatus {
  readonly bytes: number;
  /** Above which no more lines are taken. */
  readonly most_bytes: number;
  /** When the oldest line that waits was written; null while none does, or none was looked at. */
  readonly oldest: string | null;
  readonly delivered_lines: number;
  readonly deliveries: number;
  readonly failures: number;
  /** Of the last failure since the last delivery. */
  readonly last_error: string | null;
  readonly last_error_time: string | null;
}

/** The device keeps no more, until some of what it keeps is delivered. */
export class BufferFull extends Error {}

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
  /** The options as they may be read, without secrets. Absent: as they are. */
  shown?(options: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
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
