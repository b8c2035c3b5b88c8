import type { Environment } from './environment.ts';
import { setting } from './environment.ts';
import { parseDuration } from './duration.ts';
import { Failure } from './failure.ts';
import { parseBoolean } from './flag-parser.ts';
import type { GlobalOptions } from './global-flags.ts';

const DEFAULT_ADDRESS = 'https://127.0.0.1:8200';

/** Where the server is and how to speak to it: flags first, then the environment. Times are in seconds. */
export interface Connection {
  readonly address: string;
  readonly caCert: string | undefined;
  readonly caPath: string | undefined;
  readonly clientCert: string | undefined;
  readonly clientKey: string | undefined;
  readonly tlsServerName: string | undefined;
  readonly skipVerify: boolean;
  readonly namespace: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly wrapTtl: number | undefined;
  readonly retries: number;
  readonly timeout: number;
  /** Requests under way at once; 4 by default. */
  readonly parallel?: number;
}

function booleanSetting(env: Environment, name: string): boolean {
  const text = setting(env, name);
  if (text === undefined) return false;
  const value = parseBoolean(text);
  if (value === undefined) throw new Failure(`The environment variable ${name} must be true or false, not "${text}"`);
  return value;
}

function durationSetting(env: Environment, name: string): number | undefined {
  const text = setting(env, name);
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new Failure(`The environment variable ${name} must be a duration, not "${text}"`);
  return seconds;
}

function retriesSetting(env: Environment): number {
  const text = setting(env, 'MAX_RETRIES');
  if (text === undefined) return 2;
  if (!/^\d+$/.test(text)) throw new Failure(`The environment variable MAX_RETRIES must be a whole number, not "${text}"`);
  return Number(text);
}

/** The address without closing slashes. Throws a Failure for what is none. */
export function checkAddress(address: string): string {
  if (!/^(https?|unix):\/\//.test(address)) {
    throw new Failure(`The address "${address}" must start with http://, https:// or unix://`);
  }
  if (!address.startsWith('unix:') && !URL.canParse(address)) throw new Failure(`The address "${address}" is not a valid URL`);
  return address.replace(/\/+$/, '');
}

/** Reads everything at once; a wrong value is a Failure that names it. */
export function readConnection(options: GlobalOptions, env: Environment): Connection {
  return {
    address: checkAddress(options.address ?? setting(env, 'ADDR') ?? DEFAULT_ADDRESS),
    caCert: options['ca-cert'] ?? setting(env, 'CACERT'),
    caPath: options['ca-path'] ?? setting(env, 'CAPATH'),
    clientCert: options['client-cert'] ?? setting(env, 'CLIENT_CERT'),
    clientKey: options['client-key'] ?? setting(env, 'CLIENT_KEY'),
    tlsServerName: options['tls-server-name'] ?? setting(env, 'TLS_SERVER_NAME'),
    skipVerify: options['tls-skip-verify'] ?? booleanSetting(env, 'SKIP_VERIFY'),
    namespace: (options.namespace ?? setting(env, 'NAMESPACE') ?? '').replace(/^\/+|\/+$/g, ''),
    headers: options.header,
    wrapTtl: options['wrap-ttl'] ?? durationSetting(env, 'WRAP_TTL'),
    retries: retriesSetting(env),
    timeout: durationSetting(env, 'CLIENT_TIMEOUT') ?? 60,
  };
}
