import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { ConfigurationInvalid, connectionSecrets, durationSetting, pemMaterial, tlsMinVersion } from '@strongroom/database-sdk';
import { CassandraConnection } from './connection-schema.ts';

export interface CassandraSettings {
  /** `host:port`, addresses of IPv6 in brackets. */
  readonly contactPoints: readonly string[];
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly tls: ConnectionOptions | undefined;
  /** Absent: the newest that both sides know. */
  readonly maxProtocolVersion: number | undefined;
  readonly connectTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly localDatacenter: string | undefined;
  /** The protocol's number of the level. */
  readonly consistency: number | undefined;
  readonly looksAtPermissions: boolean;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

const DEFAULT_PORT = 9042;
const DEFAULT_KEEP_ALIVE_MS = 15_000;

/** CQL protocol, section 3, `[consistency]`. Statements that change users take no serial levels. */
const CONSISTENCIES: Readonly<Record<string, number>> = {
  ANY: 0,
  ONE: 1,
  TWO: 2,
  THREE: 3,
  QUORUM: 4,
  ALL: 5,
  LOCAL_QUORUM: 6,
  EACH_QUORUM: 7,
  LOCAL_ONE: 10,
};

/** Checks a connection without making it. Throws ConfigurationInvalid. */
export function cassandraSettings(config: CassandraConnection): CassandraSettings {
  for (const field of ['hosts', 'username', 'password'] as const) {
    if (!config[field]) throw new ConfigurationInvalid(`${field} cannot be empty`);
  }
  const port = config.port ?? DEFAULT_PORT;
  const hosts = config.hosts
    .split(',')
    .map((host) => host.trim())
    .filter(Boolean);
  if (hosts.length === 0) throw new ConfigurationInvalid('hosts cannot be empty');
  const nodes = hosts.map((host) => parseHost(host, port));
  return {
    contactPoints: nodes.map(({ name, port }) => `${name.includes(':') ? `[${name}]` : name}:${port}`),
    port,
    username: config.username,
    password: config.password,
    tls: tlsSettings(
      config,
      nodes.map(({ name }) => name),
    ),
    maxProtocolVersion: config.protocol_version || undefined,
    connectTimeoutMs: 1000 * durationSetting('connect_timeout', config.connect_timeout ?? '5s', '5s', 0),
    keepAliveMs: 1000 * durationSetting('socket_keep_alive', config.socket_keep_alive ?? '0s', '5s', 0) || DEFAULT_KEEP_ALIVE_MS,
    localDatacenter: config.local_datacenter || undefined,
    consistency: parseConsistency(config.consistency),
    looksAtPermissions: !config.skip_verification,
    secrets: connectionSecrets(CassandraConnection, config),
  };
}

function parseHost(text: string, defaultPort: number): { name: string; port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)|([0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*))(?::(\d{1,5}))?$/i.exec(text);
  const port = match?.[4] === undefined ? defaultPort : Number(match[4]);
  if (!match || port < 1 || port > 65_535)
    throw new ConfigurationInvalid('hosts must be names or addresses, each with or without a port, separated by commas');
  return { name: (match[1] ?? match[2] ?? match[3])!, port };
}

function tlsSettings(config: CassandraConnection, names: readonly string[]): ConnectionOptions | undefined {
  const material = pemMaterial(config);
  const minVersion = tlsMinVersion(config.tls_min_version);
  if (!material && !config.tls && !config.insecure_tls) return undefined;
  const serverName = config.tls_server_name || undefined;
  return {
    ...material,
    minVersion,
    rejectUnauthorized: !config.insecure_tls,
    ...(serverName !== undefined && { servername: serverName }),
    // The driver connects to addresses that it has looked up, whereas certificates are usually for names.
    checkServerIdentity: (address, certificate) => {
      const refusals = (serverName === undefined ? [address, ...names] : [serverName]).map((name) =>
        checkServerIdentity(name, certificate),
      );
      return refusals.some((refusal) => refusal === undefined) ? undefined : refusals[0];
    },
  };
}

function parseConsistency(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const level = CONSISTENCIES[text.toUpperCase()];
  if (level === undefined) throw new ConfigurationInvalid(`consistency must be one of ${Object.keys(CONSISTENCIES).join(', ')}`);
  return level;
}
