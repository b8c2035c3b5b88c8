import type { Configuration, TcpListener } from './config/configuration.ts';
import type { LogLevel } from './log/log-level.ts';
import { LOG_LEVELS } from './log/log-level.ts';
import { parseAddress } from './config/address.ts';
import { defaultConfiguration, plainListener } from './config/default-configuration.ts';
import { readConfiguration } from './config/read-configuration.ts';
import { ArgumentsInvalid, type ServerArguments } from './arguments.ts';
import type { RunOptions } from './run-options.ts';

/** The configuration with what the command line says about it. @throws ConfigurationInvalid, ArgumentsInvalid */
export function settledConfiguration(words: ServerArguments, env: NonNullable<RunOptions['env']>): Configuration {
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

export function devSetting(env: NonNullable<RunOptions['env']>, name: string): string | undefined {
  return env[`STRONGROOM_DEV_${name}`] || env[`BAO_DEV_${name}`] || env[`VAULT_DEV_${name}`] || undefined;
}

function levelOf(text: string): LogLevel {
  const level = text.toLowerCase() as LogLevel;
  if (!LOG_LEVELS.includes(level)) throw new ArgumentsInvalid(`-log-level: ${JSON.stringify(text)} is not one of ${LOG_LEVELS.join(', ')}`);
  return level;
}
