import { sanitizedConfiguration } from './sanitized.ts';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CONSOLE_DEFAULTS } from './console-section.ts';
import { DEFAULT_PORT, NO_LIMITS, type Configuration, type TcpListener } from './configuration.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a server without a configuration keeps its data. */
export function defaultDataFolder(env: Environment): string {
  return env['STRONGROOM_DATA_DIR'] || join(homedir(), '.strongroom', 'data');
}

export function plainListener(host = '127.0.0.1', port = DEFAULT_PORT): TcpListener {
  return { ...NO_LIMITS, type: 'tcp', host, port };
}

/** What holds where nothing is configured: LMDB in a folder of its own, plain HTTP on the loopback address. */
export function defaultConfiguration(env: Environment): Configuration {
  return {
    storage: { type: 'lmdb', path: defaultDataFolder(env) },
    listeners: [plainListener()],
    workers: 1,
    seals: [],
    logLevel: 'info',
    logFormat: 'standard',
    metrics: true,
    audit: {},
    auditEmergencyDisable: [],
    plugins: [],
    console: CONSOLE_DEFAULTS,
    notices: [],
    sanitized: sanitizedConfiguration([], { storage: 'lmdb' }),
  };
}
