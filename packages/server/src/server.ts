import type { Core } from '@strongroom/core';
import type { Configuration } from './config/configuration.ts';
import { compose, TOKENS } from './composition.ts';
import type { StartOptions } from './start-options.ts';
import { mountSecret } from './dev.ts';
import { freeSockets } from './listeners/unix-socket.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import { writePidFile } from './pid-file.ts';
import type { WorkerSiblings } from './workers/worker-siblings.ts';

/** How long requests that have begun may still take when the server stops; engines and storage get the rest of its 30 s. Milliseconds. */
const LAST_REQUESTS = 20_000;

export interface RunningServer {
  /** URLs, in the order of the listeners: `http://127.0.0.1:8200`. */
  readonly addresses: readonly string[];
  readonly core: Core;
  /** Reads certificates again, and reopens the log file and the files of audit devices. With a new configuration, also takes its log level. */
  reload(next?: Configuration): Promise<void>;
  /** Takes no more connections, lets requests end, then seals and closes the storage. Idempotent. */
  stop(): Promise<void>;
}

/** A server with what a worker reports. */
export interface OpenServer extends RunningServer {
  /** Absent: metrics are off. */
  readonly metrics: ServerMetrics | undefined;
}

/** What `startServer` does once everything is loaded. `siblings`: this process is one of several workers. */
export async function openServer(options: StartOptions & { readonly siblings?: WorkerSiblings }): Promise<OpenServer> {
  const { configuration, siblings } = options;
  const parts = compose(configuration, options, siblings);
  const log = parts.resolve(TOKENS.log);
  for (const notice of configuration.notices) log.warn(notice);
  const removePidFile = configuration.pidFile === undefined ? undefined : writePidFile(configuration.pidFile);
  let core: Core | undefined;
  try {
    core = await parts.resolve(TOKENS.core);
    if (options.devRootToken !== undefined) await mountSecret(core, options.devRootToken);
    // Workers share their sockets, which the supervisor has made room for.
    if (!siblings) await freeSockets(configuration.listeners);
    const listeners = await parts.resolve(TOKENS.listeners);
    const opened = core;
    let stopping: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await listeners.stop(options.stopDeadline ?? LAST_REQUESTS);
      await opened.close();
      await (await parts.resolve(TOKENS.tracing))?.close();
      removePidFile?.();
      log.info('stopped');
      if (!options.log) log.close();
    };
    return {
      addresses: listeners.addresses,
      core: opened,
      metrics: parts.resolve(TOKENS.metrics),
      async reload(next) {
        if (next && next.logLevel !== log.level) {
          log.info('the log level changes', { from: log.level, to: next.logLevel });
          log.level = next.logLevel;
        }
        await attempt('the log file cannot be reopened', () => {
          log.reopen();
        });
        listeners.reloadTls();
        await attempt('an audit file cannot be reopened', async () => opened.reopenAuditFiles());
        log.info('reloaded');
      },
      stop: () => (stopping ??= stop()),
    };
  } catch (error) {
    await core?.close();
    await (await parts.resolve(TOKENS.tracing).catch(() => undefined))?.close();
    removePidFile?.();
    if (!options.log) log.close();
    throw error;
  }

  async function attempt(failure: string, work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error(failure, { error: (error as Error).message });
    }
  }
}
