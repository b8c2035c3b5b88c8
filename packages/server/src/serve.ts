import type { Configuration } from './config/configuration.ts';
import { readArguments, type ServerArguments } from './arguments.ts';
import { devBanner, newRootToken } from './dev.ts';
import { logUserSignals } from './early-signals.ts';
import { explained } from './explained.ts';
import { ServerLog } from './log/server-log.ts';
import type { RunOptions } from './run-options.ts';
import { openServer } from './server.ts';
import { devSetting, settledConfiguration } from './settled-configuration.ts';
import { signals, untilStopped } from './until-stopped.ts';
import type { Listening } from './workers/messages.ts';
import { supervise } from './supervise.ts';

/** What `runServer` does once everything is loaded. `started` is called when the server is ready. */
export async function serve(argv: readonly string[], options: RunOptions, started: () => void): Promise<number> {
  const env = options.env ?? process.env;
  const say = options.say ?? ((text) => void process.stdout.write(text));
  const complain = options.complain ?? ((text) => void process.stderr.write(text));
  let log: ServerLog | undefined;
  try {
    const words = readArguments(argv);
    const read = (): Configuration => settledConfiguration(words, env);
    const configuration = read();
    log = new ServerLog({
      level: configuration.logLevel,
      format: configuration.logFormat,
      ...(configuration.logFile === undefined ? {} : { file: configuration.logFile }),
    });
    logUserSignals(log);
    const parts = { words, configuration, read, log, say };
    return await (configuration.workers > 1 ? supervise({ ...parts, argv, started, banner }) : serveHere(parts, env, started));
  } catch (error) {
    complain(`${explained(error)}\n`);
    return 1;
  } finally {
    log?.close();
  }
}

interface ServeParts {
  readonly words: ServerArguments;
  readonly configuration: Configuration;
  /** Reads the configuration again. */
  readonly read: () => Configuration;
  readonly log: ServerLog;
  readonly say: (text: string) => void;
}

/** The whole server in this process. */
async function serveHere(
  { words, configuration, read, log, say }: ServeParts,
  env: NonNullable<RunOptions['env']>,
  started: () => void,
): Promise<number> {
  const rootToken = words.dev ? (words.devRootToken ?? devSetting(env, 'ROOT_TOKEN_ID') ?? newRootToken()) : undefined;
  const server = await openServer({ configuration, log, ...(rootToken === undefined ? {} : { devRootToken: rootToken }) });
  const stopped = untilStopped(server, log, { orders: signals, configuration: read });
  const { addresses, core } = server;
  const { sealed } = core;
  const state = { sealed, initialized: !sealed || (await core.initialized()), automatic: core.sealStates().length > 0 };
  if (rootToken === undefined) say(banner({ addresses, ...state }, configuration));
  else say(devBanner({ address: addresses[0]!, rootToken, storage: configuration.storage.type }));
  log.info('ready', { listeners: addresses, storage: configuration.storage.type, sealed });
  started();
  return stopped;
}

function banner({ addresses, sealed, initialized, automatic }: Listening, { storage, workers }: Configuration): string {
  const place = storage.type === 'lmdb' ? `lmdb in ${storage.path}` : storage.type;
  const state = !sealed
    ? 'unsealed'
    : initialized
      ? `sealed; ${automatic ? '"strongroom status" says why' : 'run "strongroom operator unseal"'}`
      : 'not initialized; run "strongroom operator init"';
  const processes = workers > 1 ? `      Workers: ${workers}\n` : '';
  return `Strongroom server started\n\n    Listeners: ${addresses.join(', ')}\n      Storage: ${place}\n${processes}        State: ${state}\n\n`;
}
