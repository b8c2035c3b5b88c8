import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { BadRequest, decodeValue } from '@strongroom/engine-sdk';

/** The checked options of a device of type `http`. */
export interface HttpAuditOptions {
  readonly uri: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** For one request, from connecting to the end of the answer. */
  readonly timeoutMillis: number;
  readonly tls: TlsFiles;
  /** Absent: lines are delivered before they are acknowledged, and kept nowhere. */
  readonly buffer?: BufferOptions;
}

export interface BufferOptions {
  readonly folder: string;
  /** Undelivered bytes, above which no more lines are taken. */
  readonly mostBytes: number;
  readonly batchLines: number;
  /** For how long lines are collected before they are sent. */
  readonly flushMillis: number;
}

/** Paths of PEM files; read whenever the device is opened. */
interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly skipVerify: boolean;
}

type Texts = Readonly<Record<string, string>>;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** The device sets these by itself. */
const OF_THE_DEVICE: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host', 'idempotency-key'],
  ...['keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);
const MEGABYTE = 1 << 20;
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  kb: 1 << 10,
  mb: MEGABYTE,
  gb: 1 << 30,
  kib: 1 << 10,
  mib: MEGABYTE,
  gib: 1 << 30,
};
/** What `headers` reads as. */
export const HIDDEN_HEADERS = '<hidden>';

/** @throws BadRequest naming the option. */
export function httpOptions(options: Texts): HttpAuditOptions {
  const tls = tlsFiles(options);
  const uri = uriOf(options);
  if (uri.protocol === 'http:' && (tls.ca ?? tls.cert ?? tls.serverName) !== undefined)
    throw new BadRequest('uri: TLS options need an address that begins with https://');
  const buffer = bufferOptions(options);
  return {
    uri,
    headers: headersOf(options['headers']),
    timeoutMillis: duration(options, 'write_timeout', '5s', 1, 300),
    tls,
    ...(buffer && { buffer }),
  };
}

/** The PEM texts. @throws Error naming the option of a file that cannot be read */
export function readTlsFiles({ ca, cert, key, serverName, skipVerify }: TlsFiles): {
  ca?: string;
  cert?: string;
  key?: string;
  servername?: string;
  rejectUnauthorized: boolean;
} {
  return {
    ...(ca === undefined ? {} : { ca: pem('tls_ca_cert', ca) }),
    ...(cert === undefined ? {} : { cert: pem('tls_client_cert', cert) }),
    ...(key === undefined ? {} : { key: pem('tls_client_key', key) }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: !skipVerify,
  };
}

function pem(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${option}: ${JSON.stringify(path)} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`, {
      cause: error,
    });
  }
}

function uriOf(options: Texts): URL {
  const name = options['uri'] ? 'uri' : 'address';
  const text = options[name];
  if (!text) throw new BadRequest('uri is required');
  const uri = URL.canParse(text) ? new URL(text) : undefined;
  if (uri?.protocol !== 'http:' && uri?.protocol !== 'https:')
    throw new BadRequest(`${name} must be a URL such as "https://logs.example.com/audit"`);
  if (uri.username !== '' || uri.password !== '')
    throw new BadRequest(`${name} must not contain a user or a password, which everybody would see; use headers`);
  uri.hash = '';
  return uri;
}

function headersOf(text: string | undefined): HttpAuditOptions['headers'] {
  if (!text) return {};
  const wrong = new BadRequest('headers must be a JSON object of names and values, such as {"Authorization": ["Bearer …"]}');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw wrong;
  const headers = new Map<string, string[]>();
  for (const [name, given] of Object.entries(parsed)) {
    const values: unknown[] = Array.isArray(given) ? given : [given];
    if (!NAME.test(name)) throw new BadRequest(`headers: ${JSON.stringify(name)} is not a header name`);
    const known = name.toLowerCase();
    if (OF_THE_DEVICE.has(known)) throw new BadRequest(`headers: ${name} is set by the device`);
    for (const value of values)
      if (typeof value !== 'string' || !VALUE.test(value)) throw new BadRequest(`headers: the value of ${name} is no value of a header`);
    headers.set(known, [...(headers.get(known) ?? []), ...(values as string[])]);
  }
  return Object.fromEntries(headers);
}

function tlsFiles(options: Texts): TlsFiles {
  const [ca, cert, key] = ['tls_ca_cert', 'tls_client_cert', 'tls_client_key'].map((name) => options[name] || undefined);
  if ((cert === undefined) !== (key === undefined))
    throw new BadRequest('tls_client_cert and tls_client_key belong together: give both, or neither');
  const serverName = options['tls_server_name'] || undefined;
  const skipVerify = flag(options, 'tls_skip_verify');
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { serverName }),
    skipVerify,
  };
}

function bufferOptions(options: Texts): BufferOptions | undefined {
  const folder = options['buffer_path'];
  if (!folder) {
    const lone = ['buffer_size', 'batch_size', 'flush_interval'].find((name) => options[name]);
    if (lone !== undefined) throw new BadRequest(`${lone} needs buffer_path, the folder on this server where lines wait for delivery`);
    return undefined;
  }
  if (!isAbsolute(folder) || folder.includes('\0'))
    throw new BadRequest('buffer_path must be the absolute path of a folder on this server');
  return {
    folder,
    mostBytes: bytes(options),
    batchLines: whole(options, 'batch_size', 500, 10_000),
    flushMillis: duration(options, 'flush_interval', '1s', 0, 60),
  };
}

function bytes(options: Texts): number {
  const text = options['buffer_size'] || '1GB';
  const [, digits, unit = ''] = /^(\d{1,15})\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  const factor = Object.hasOwn(UNITS, unit.toLowerCase()) ? UNITS[unit.toLowerCase()]! : 0;
  const size = Number(digits) * factor;
  if (!(size >= MEGABYTE) || !Number.isSafeInteger(size))
    throw new BadRequest('buffer_size must be at least 1MB, such as "512MB" or "4GB"');
  return size;
}

function whole(options: Texts, name: string, normal: number, most: number): number {
  const text = options[name] || String(normal);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) throw new BadRequest(`${name} must be a whole number of lines from 1 to ${most}`);
  return value;
}

function flag(options: Texts, name: string): boolean {
  const text = options[name] || 'false';
  if (text !== 'true' && text !== 'false') throw new BadRequest(`${name} must be true or false`);
  return text === 'true';
}

/** Milliseconds. */
function duration(options: Texts, name: string, normal: string, least: number, most: number): number {
  let value: unknown;
  try {
    value = decodeValue('duration', options[name] || normal);
  } catch (error) {
    throw new BadRequest(`${name}: ${(error as Error).message}`);
  }
  if (typeof value !== 'number' || value < least || value > most)
    throw new BadRequest(`${name} must be from ${least} to ${most} seconds, such as "${normal}"`);
  return value * 1_000;
}
