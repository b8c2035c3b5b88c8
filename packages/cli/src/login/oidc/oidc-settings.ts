import { parseBoolean } from '../../flag-parser.ts';
import { Failure } from '../../failure.ts';
import { closest, didYouMean } from '../../suggest.ts';
import { textOf, type LoginCall } from '../login-method.ts';

const KNOWN = [
  'role',
  'mount',
  'listenaddress',
  'port',
  'callbackhost',
  'callbackport',
  'callbackmethod',
  'callbackmode',
  'skip_browser',
  'show_qr',
  'abort_on_error',
] as const;
type Setting = (typeof KNOWN)[number];

const MODES = ['client', 'direct', 'device'] as const;
/** Who takes the answer of the provider: this command, the server, or nobody because the server asks the provider. */
export type CallbackMode = (typeof MODES)[number];

/** The words of a login with `oidc`, checked, with defaults filled in. */
export interface OidcSettings {
  readonly role: string;
  readonly mount: string;
  readonly mode: CallbackMode;
  readonly listenAddress: string;
  /** Port of the listener; 0 takes a free one. */
  readonly port: number;
  readonly skipBrowser: boolean;
  readonly showQr: boolean;
  readonly abortOnError: boolean;
  /** Where the provider sends the browser, given the port on which this command listens. */
  redirectUri(listening: number): string;
}

/** Throws a Failure that names the wrong word. */
export function readSettings({ mount: path, data, client }: Pick<LoginCall, 'mount' | 'data' | 'client'>): OidcSettings {
  for (const name of Object.keys(data)) {
    if (!KNOWN.includes(name as Setting)) {
      throw new Failure(`Unknown setting "${name}" of the oidc login.${didYouMean(closest(name, KNOWN))} Known are ${KNOWN.join(', ')}`);
    }
  }
  const text = (name: Setting): string | undefined => textOf(data, name);
  const mode = text('callbackmode') ?? 'client';
  if (!isMode(mode)) throw new Failure(`callbackmode must be one of ${MODES.join(', ')}, not "${mode}"`);
  const mount = text('mount') ?? path;
  const method = text('callbackmethod');
  if (method !== undefined && method !== 'http' && method !== 'https') {
    throw new Failure(`callbackmethod must be http or https, not "${method}"`);
  }
  const callbackPort = portOf('callbackport', text('callbackport'));
  return {
    role: text('role') ?? '',
    mount,
    mode,
    listenAddress: text('listenaddress') ?? 'localhost',
    port: portOf('port', text('port')) ?? 8250,
    skipBrowser: flagOf('skip_browser', text('skip_browser')),
    showQr: flagOf('show_qr', text('show_qr')),
    abortOnError: flagOf('abort_on_error', text('abort_on_error')),
    redirectUri(listening) {
      const server = mode === 'direct' ? serverAddress(client.connection.address) : undefined;
      const host = text('callbackhost') ?? server?.hostname ?? 'localhost';
      const port = callbackPort ?? (server ? server.port : listening);
      const authority = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`;
      const scheme = method ?? server?.protocol.slice(0, -1) ?? 'http';
      return `${scheme}://${authority}${mode === 'direct' ? `/v1/auth/${mount}` : ''}/oidc/callback`;
    },
  };
}

function isMode(text: string): text is CallbackMode {
  return (MODES as readonly string[]).includes(text);
}

/** The server is behind a socket: nothing to take the address of the callback from. */
function serverAddress(address: string): URL | undefined {
  return address.startsWith('unix:') ? undefined : new URL(address);
}

function portOf(name: Setting, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) throw new Failure(`${name} must be a number from 0 to 65535, not "${text}"`);
  return port;
}

function flagOf(name: Setting, text: string | undefined): boolean {
  if (text === undefined) return false;
  const value = parseBoolean(text);
  if (value === undefined) throw new Failure(`${name} must be true or false, not "${text}"`);
  return value;
}
