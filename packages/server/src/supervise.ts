import { systemClock, type Clock } from '@strongroom/engine-sdk';
import type { Configuration } from './config/configuration.ts';
import { explained } from './explained.ts';
import { freeSockets } from './listeners/unix-socket.ts';
import type { ServerLog } from './log/server-log.ts';
import { writePidFile } from './pid-file.ts';
import { signals } from './until-stopped.ts';
import type { Listening } from './workers/messages.ts';
import { StoreWriter } from './workers/store-writer.ts';
import { Supervisor } from './workers/supervisor.ts';
import { clusterFork, writerFork } from './workers/worker-process.ts';

/** Milliseconds, as many as a timer can have. */
const LONG = 2 ** 31 - 1;

export interface SuperviseParts {
  /** The words of the server command. */
  readonly argv: readonly string[];
  readonly configuration: Configuration;
  /** Reads the configuration again. */
  readonly read: () => Configuration;
  readonly log: ServerLog;
  readonly say: (text: string) => void;
  /** What is said when all workers listen. */
  readonly banner: (listening: Listening, configuration: Configuration) => string;
  readonly started: () => void;
}

/** A server of several processes: this one supervises, the workers serve. Resolves with the exit code. @throws WorkerNotStarted, ListenerFailed, PidFileFailed */
export async function supervise({ argv, configuration, read, log, say, banner, started }: SuperviseParts): Promise<number> {
  const { workers, pidFile, listeners, notices, storage } = configuration;
  for (const notice of notices) log.warn(notice);
  await freeSockets(listeners);
  const supervisor = new Supervisor({ fork: clusterFork(argv), count: workers, clock: steadyClock, log });
  const writer =
    storage.type === 'lmdb' && process.platform !== 'win32'
      ? new StoreWriter({ fork: writerFork(storage), clock: steadyClock, log })
      : undefined;
  let stopping = false;
  const stop = (reason: string, code = 0): boolean => {
    // The second time.
    if (stopping) {
      supervisor.kill();
      writer?.kill();
    } else {
      stopping = true;
      log.info('stopping', { reason });
      supervisor.stop(reason, code);
    }
    return true;
  };
  const reload = (): void => {
    reopen(log, read);
    supervisor.reload();
  };
  const failed = (error: unknown): void => {
    log.error('the server stops because of an uncaught error', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    stop('uncaught error', 1);
  };
  const deafen = signals.listen({ stop, reload });
  process.on('uncaughtException', failed);
  // While no worker runs, nothing else keeps this process alive until the next one is started, or the server gives up.
  const alive = setInterval(() => undefined, LONG);
  let removePidFile: (() => void) | undefined;
  try {
    const listening = await supervisor.start();
    if (listening) {
      writer?.start();
      if (pidFile !== undefined) removePidFile = writePidFile(pidFile);
      say(banner(listening, configuration));
      log.info('ready', { listeners: listening.addresses, storage: storage.type, sealed: listening.sealed, workers });
      started();
    }
    const code = await supervisor.ended;
    await writer?.stop();
    log.info('stopped');
    return code;
  } catch (error) {
    supervisor.stop('it could not start', 1);
    await supervisor.ended;
    await writer?.stop();
    throw error;
  } finally {
    clearInterval(alive);
    process.off('uncaughtException', failed);
    deafen();
    removePidFile?.();
  }
}

/** What reloading is for the supervisor: its own log. */
function reopen(log: ServerLog, read: () => Configuration): void {
  try {
    const { logLevel } = read();
    if (logLevel !== log.level) log.level = logLevel;
    log.reopen();
  } catch (error) {
    log.error('the log of the supervisor is unchanged', { error: explained(error) });
  }
}

/** Only goes forward; that of the machine may be set. */
const steadyClock: Clock = {
  ...systemClock,
  millis: () => performance.now(),
  now: () => systemClock.now(),
  after: (millis, work) => systemClock.after(millis, work),
};
