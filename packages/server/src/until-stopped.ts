import { notifyOwner } from '@strongroom/engine-sdk';
import type { Configuration } from './config/configuration.ts';
import { isConnectionFailure } from './connection-failure.ts';
import { takeHeldReload } from './early-signals.ts';
import { explained } from './explained.ts';
import type { ServerLog } from './log/server-log.ts';
import type { RunningServer } from './server.ts';

/** How long a stop may take, with requests, engines and storage. Milliseconds. */
const STOP = 30_000;

/** What a server does when somebody tells it something. */
export interface Heard {
  /** False: it is stopping already. */
  readonly stop: (reason: string) => boolean;
  readonly reload: () => void;
}

/** Who tells a server to stop or to reload. */
export interface Orders {
  /** The result ends that. */
  listen(heard: Heard): () => void;
}

/** Signals of the system: the first SIGINT or SIGTERM stops the server, a second one ends the process at once. */
export const signals: Orders = {
  listen({ stop, reload }) {
    const signalled = (signal: string): void => {
      if (!stop(signal)) process.exit(1);
    };
    const interrupted = (): void => signalled('SIGINT');
    const terminated = (): void => signalled('SIGTERM');
    process.on('SIGINT', interrupted).on('SIGTERM', terminated).on('SIGHUP', reload);
    // What the server has read so far may be old by now.
    if (takeHeldReload()) reload();
    return () => void process.off('SIGINT', interrupted).off('SIGTERM', terminated).off('SIGHUP', reload);
  },
};

export interface StopOptions {
  readonly orders: Orders;
  /** Reads the configuration again. */
  readonly configuration: () => Configuration;
}

/** Resolves with the exit code once the server has stopped as it was asked to. */
export function untilStopped(server: RunningServer, log: ServerLog, { orders, configuration }: StopOptions): Promise<number> {
  return new Promise((resolve) => {
    let deadline: NodeJS.Timeout | undefined;
    const stop = (reason: string, code: number): boolean => {
      if (deadline) return false;
      log.info('stopping', { reason });
      // It also keeps the process alive: with nothing to wait for, it would end in the middle of the stop.
      deadline = setTimeout(() => {
        log.error('the server ends before everything is closed, because closing took too long', { seconds: STOP / 1_000 });
        process.exit(1);
      }, STOP);
      server.stop().then(
        () => {
          leave(code);
        },
        (error: unknown) => {
          log.error('the server did not stop cleanly', { error: String(error) });
          leave(1);
        },
      );
      return true;
    };
    const reload = (): void => {
      let next: Configuration | undefined;
      try {
        next = configuration();
      } catch (error) {
        log.error('the configuration is unchanged: the new one cannot be used', { error: explained(error) });
      }
      void server.reload(next);
    };
    // What a plugin left running and throws harms what the plugin runs; the server goes on.
    const onRejection = (error: unknown): void => {
      if (notifyOwner(error)) return;
      log.error('a promise was rejected and not handled', { error: describe(error) });
    };
    const onException = (error: unknown): void => {
      if (notifyOwner(error)) return;
      if (isConnectionFailure(error)) return log.error('a connection failed outside of any request', { error: describe(error) });
      log.error('the server stops because of an uncaught error', { error: describe(error) });
      stop('uncaught error', 1);
    };
    const leave = (code: number): void => {
      clearTimeout(deadline);
      deafen();
      process.off('unhandledRejection', onRejection).off('uncaughtException', onException);
      resolve(code);
    };
    const deafen = orders.listen({ stop: (reason) => stop(reason, 0), reload });
    process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
