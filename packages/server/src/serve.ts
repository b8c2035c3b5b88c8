import { notifyOwner } from '@strongroom/engine-sdk';
import type { Configuration, TcpListener } from './config/configuration.ts';
import type { LogLevel } from './log/log-level.ts';
import { LOG_LEVELS } from './log/log-level.ts';
import { parseAddress } from './config/address.ts';
import { defaultConfiguration, plainListener } from './config/default-configuration.ts';
import { readConfiguration } from './config/read-configuration.ts';
import { isConnectionFailure } from './connection-failure.ts';
import { ArgumentsInvalid, readArguments, type ServerArguments } from './arguments.ts';
import { devBanner, newRootToken } from './dev.ts';
import { ServerLog } from './log/server-log.ts';
import type { RunOptions } from './run-options.ts';
import { openServer, type RunningServer } from './server.ts';

/** What `runServer` does once everything is loaded. `started` is called when the server is ready. */
export async function serve(argv: readonly string[], options: RunOptions, started: () => void): Promise<number> {
  const env = options.env ?? process.env;
  const say = options.say ?? ((text) => void process.stdout.write(text));
  const complain = options.complain ?? ((text) => void process.stderr.write(text));
  let log: ServerLog | undefined;
  try {
    const words = readArguments(argv);
    const configuration = settledConfiguration(words, env);
    log = new ServerLog({
      level: configuration.logLevel,
      format: configuration.logFormat,
      ...(configuration.logFile === undefined ? {} : { file: configuration.logFile }),
    });
    const rootToken = words.dev ? (words.devRootToken ?? devSetting(env, 'ROOT_TOKEN_ID') ?? newRootToken()) : undefined;
    const server = await openServer({ configuration, log, ...(rootToken === undefined ? {} : { devRootToken: rootToken }) });
    const stopped = untilStopped(server, log, () => settledConfiguration(words, env));
    if (rootToken === undefined) say(await plainBanner(server, configuration));
    else say(devBanner({ address: server.addresses[0]!, rootToken, storage: configuration.storage.type }));
    log.info('ready', { listeners: server.addresses, storage: configuration.storage.type, sealed: server.core.sealed });
    started();
    return await stopped;
  } catch (error) {
    complain(`${explained(error)}\n`);
    return 1;
  } finally {
    log?.close();
  }
}

/** The configuration with what the command line says about it. @throws ConfigurationInvalid, ArgumentsInvalid */
function settledConfiguration(words: ServerArguments, env: NonNullable<RunOptions['env']>): Configuration {
  const read =
    words.config.length > 0
      ? readConfiguration(words.config, { env, dev: words.dev })
      : { ...defaultConfiguration(env), ...(words.dev ? DEV : {}) };
  const logLevel = words.logLevel === undefined ? read.logLevel : levelOf(words.logLevel);
  if (!words.dev) return { ...read, logLevel };
  const asked = words.devListenAddress ?? devSetting(env, 'LISTEN_ADDRESS');
  if (asked === undefined && read.listeners.length > 0) return { ...read, logLevel };
  const address = asked === undefined ? undefined : parseAddress(asked);
  if (asked !== undefined && !address) throw new ArgumentsInvalid(`-dev-listen-address: ${JSON.stringify(asked)} is not host:port`);
  const listener = plainListener(address?.host, address?.port);
  return { ...apiAddressAt(listener), ...read, logLevel, listeners: [listener, ...read.listeners] };
}

/** Clients of a development server are on the same machine. A port that the system chooses is not known yet. */
function apiAddressAt({ host, port }: TcpListener): Pick<Configuration, 'apiAddress'> {
  if (port === 0) return {};
  return { apiAddress: `http://${host.includes(':') ? `[${host}]` : host}:${port}` };
}

const DEV: Pick<Configuration, 'storage' | 'listeners'> = { storage: { type: 'inmem' }, listeners: [] };

function devSetting(env: NonNullable<RunOptions['env']>, name: string): string | undefined {
  return env[`STRONGROOM_DEV_${name}`] || env[`BAO_DEV_${name}`] || env[`VAULT_DEV_${name}`] || undefined;
}

function levelOf(text: string): LogLevel {
  const level = text.toLowerCase() as LogLevel;
  if (!LOG_LEVELS.includes(level)) throw new ArgumentsInvalid(`-log-level: ${JSON.stringify(text)} is not one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

async function plainBanner({ addresses, core }: RunningServer, { storage }: Configuration): Promise<string> {
  const place = storage.type === 'lmdb' ? `lmdb in ${storage.path}` : storage.type;
  const state = !core.sealed
    ? 'unsealed'
    : (await core.initialized())
      ? `sealed: strongroom ${core.sealStates().length > 0 ? 'status says why' : 'operator unseal opens it'}`
      : 'not initialised: strongroom operator init makes its keys';
  return `Strongroom server started\n\n    Listeners: ${addresses.join(', ')}\n      Storage: ${place}\n        State: ${state}\n\n`;
}

/** How long a stop may take, with requests, engines and storage. Milliseconds. */
const STOP = 30_000;

/** Resolves with the exit code after the first SIGINT or SIGTERM; a second one ends the process at once. */
function untilStopped(server: RunningServer, log: ServerLog, configuration: () => Configuration): Promise<number> {
  return new Promise((resolve) => {
    let deadline: NodeJS.Timeout | undefined;
    const stop = (reason: string, code: number): void => {
      if (deadline) return;
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
    };
    const signalled = (signal: string): void => {
      if (deadline) process.exit(1);
      stop(signal, 0);
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
    const interrupted = (): void => signalled('SIGINT');
    const terminated = (): void => signalled('SIGTERM');
    const leave = (code: number): void => {
      clearTimeout(deadline);
      process.off('SIGINT', interrupted).off('SIGTERM', terminated).off('SIGHUP', reload);
      process.off('unhandledRejection', onRejection).off('uncaughtException', onException);
      resolve(code);
    };
    process.on('SIGINT', interrupted).on('SIGTERM', terminated).on('SIGHUP', reload);
    process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
  });
}

/** Mistakes of operators and external failures are logged as a sentence; a bug of ours with its stack. */
function explained(error: unknown): string {
  if (!(error instanceof Error)) return `Error: ${String(error)}`;
  return error.constructor === Error || error instanceof TypeError ? (error.stack ?? error.message) : `Error: ${error.message}`;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
