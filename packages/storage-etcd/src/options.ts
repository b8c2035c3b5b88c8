import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';
import { StorageFailure, type StorageLog } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';

export interface EtcdOptions {
  /** `https://host:port`, `http://host:port` or `host:port` of the members. Port by default: 2379. */
  readonly endpoints: readonly string[];
  /** Keys of the store begin with it. Ends in a slash. Default: `strongroom/`. */
  readonly prefix?: string;
  readonly username?: string;
  readonly password?: string;
  /** File with the certificates of authorities that are trusted, PEM. Default: those of Node. */
  readonly caFile?: string;
  /** File with the client's certificate, PEM. With `keyFile`. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** How long a call may take with all its retries, in milliseconds. Default: 5,000. */
  readonly requestTimeoutMs?: number;
  /** Lets endpoints elsewhere be `http://`: what is sent can be read on the way, the password too. */
  readonly tlsDisable?: boolean;
  /** `server`: etcd's own settings remove old revisions. Default: `driver`, every 5 minutes, up to 10 minutes ago. */
  readonly compaction?: 'driver' | 'server';
  /** What `--quota-backend-bytes` is set to, in bytes; etcd tells it since 3.6. Default: 2 GiB. */
  readonly quotaBytes?: number;
  /** Goes on with etcd's own limits: changes that are larger are refused then. Default: false, such a server is refused. */
  readonly allowSmallLimits?: boolean;
  /** Hears of limits, alarms and histories. Default: nobody. */
  readonly log?: StorageLog;
  /** Holds up the reading of notifications: for tests. */
  readonly reading?: ReadingClock;
}

/** When notifications are read; tests hold it up. */
export interface ReadingClock {
  /** Whether the next reading has to wait. */
  paused(): boolean;
}

/** Where a member is, and how to talk to it. */
export interface Address {
  /** `host:port` */
  readonly target: string;
  readonly tls: boolean;
  /** Where the host is an IP address, which Node 24 and later refuse as the name of a TLS server, though gRPC sends it. */
  readonly ip?: string;
}

/** @throws StorageFailure for an endpoint that cannot be read or that would be sent to without TLS */
export function addressesOf({ endpoints, tlsDisable = false }: EtcdOptions): readonly Address[] {
  const addresses = endpoints.map((endpoint) => addressOf(endpoint, tlsDisable));
  if (addresses.length === 0) throw new StorageFailure(NAME, 'at least one endpoint is required');
  return addresses.filter(({ target }, i) => addresses.findIndex((other) => other.target === target) === i);
}

function addressOf(endpoint: string, tlsDisable: boolean): Address {
  const written = endpoint.includes('://') ? endpoint : `none://${endpoint}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const plainPath = url && (url.pathname === '' || url.pathname === '/') && !url.search && !url.hash;
  if (!url || url.hostname === '' || !plainPath || !['none:', 'http:', 'https:'].includes(url.protocol))
    throw new StorageFailure(NAME, 'an endpoint must be such as https://etcd-1.example:2379');
  if (url.username || url.password) throw new StorageFailure(NAME, 'an endpoint holds no user name: set username and password');
  const target = `${url.hostname}:${url.port || '2379'}`;
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  const near = isLoopback(bare);
  const tls = url.protocol === 'https:' || (url.protocol === 'none:' && !near && !tlsDisable);
  if (!tls && !near && !tlsDisable)
    throw new StorageFailure(NAME, `the endpoint ${target} is not on this machine: use https://, or set tls_disable`);
  return { target, tls, ...(isIP(bare) === 0 ? {} : { ip: bare }) };
}

/** Of a host without brackets. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Files are read once, here. @throws StorageFailure naming the file that cannot be read */
export function channelCredentials(options: EtcdOptions): (address: Address) => ChannelCredentials {
  const file = (path: string | undefined): Buffer | null => {
    if (path === undefined) return null;
    try {
      return readFileSync(path);
    } catch (error) {
      throw new StorageFailure(NAME, `the file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
  };
  if ((options.certFile === undefined) !== (options.keyFile === undefined))
    throw new StorageFailure(NAME, 'a client certificate needs its key, and a key its certificate');
  if ((options.username === undefined) !== (options.password === undefined))
    throw new StorageFailure(NAME, 'a user name needs its password, and a password its user name');
  const [ca, key, cert] = [file(options.caFile), file(options.keyFile), file(options.certFile)];
  // The name that is sent in place of an IP address is not the one to check.
  const secureFor = (ip: string | undefined): ChannelCredentials =>
    credentials.createSsl(
      ca,
      key,
      cert,
      ip === undefined ? {} : { checkServerIdentity: (_name, certificate) => checkServerIdentity(ip, certificate as PeerCertificate) },
    );
  try {
    secureFor(undefined);
  } catch (error) {
    throw new StorageFailure(NAME, `the TLS files cannot be used: ${(error as Error).message}`);
  }
  const insecure = credentials.createInsecure();
  return ({ tls, ip }) => (tls ? secureFor(ip) : insecure);
}

/** @throws StorageFailure for a prefix that no key can begin with */
export function prefixOf({ prefix = 'strongroom/' }: EtcdOptions): string {
  const whole = prefix.endsWith('/') ? prefix : `${prefix}/`;
  if (whole.length > 200 || !/^[\x21-\x7e]+$/.test(whole))
    throw new StorageFailure(NAME, 'the prefix must be visible ASCII characters, at most 200');
  return whole;
}
