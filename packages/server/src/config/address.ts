import { isIP } from 'node:net';
import { DEFAULT_PORT } from './configuration.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, `[::1]:port`, `:port` (every address) or a host alone. Undefined for what is none of these. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^[\]]+)\]|([^[\]:/\s]*))(?::(\d{1,5}))?$/.exec(text);
  if (!match || text === '') return undefined;
  const host = match[1] ?? match[2] ?? '';
  const port = match[3] === undefined ? DEFAULT_PORT : Number(match[3]);
  if (port > 65_535 || (match[1] !== undefined && isIP(host) !== 6)) return undefined;
  if (/^[\d.]+$/.test(host) && isIP(host) === 0) return undefined;
  return { host, port };
}

export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
