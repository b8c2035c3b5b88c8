import type { AuditDeviceConfig, LockoutDefaults, SealHealthSettings, TokenlessCeremony } from '@strongroom/core';
import type { ForwardedCertificateOptions } from '@strongroom/http';
import type { ConsoleChoice } from './console-section.ts';
import type { TracingChoice } from './tracing-section.ts';
import type { LogLevel, LogFormat } from '../log/log-level.ts';

export type StorageChoice =
  | { readonly type: 'inmem' }
  | LmdbChoice
  | { readonly type: 'postgresql'; readonly connectionUrl: string; readonly table?: string; readonly poolSize?: number }
  | EtcdChoice;

export interface LmdbChoice {
  readonly type: 'lmdb';
  readonly path: string;
  readonly mapSizeBytes?: number;
  readonly residentBytes?: number;
  /** `send`: another process of the server writes for this one. */
  readonly shareTransactions?: 'send';
}

/** Files are read when the storage is opened. */
export interface EtcdChoice {
  readonly type: 'etcd';
  readonly endpoints: readonly string[];
  readonly prefix?: string;
  readonly username?: string;
  readonly password?: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly requestTimeoutMs?: number;
  readonly tlsDisable?: boolean;
  readonly compaction?: 'driver' | 'server';
  readonly quotaBytes?: number;
  readonly allowSmallLimits?: boolean;
}

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** Files are read when the listener opens, and again at each reload. */
export interface TlsChoice {
  readonly certFile: string;
  readonly keyFile: string;
  /** `requested`: any certificate completes the handshake, and login methods judge it. `verified`: the handshake needs one of `clientCaFile`. */
  readonly clientCerts: 'off' | 'requested' | 'verified';
  /** There with `verified` only. */
  readonly clientCaFile?: string;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** In OpenSSL's variant, separated by colons. */
  readonly ciphers?: string;
}

/** What both kinds of listener have. Times are in seconds. */
export interface ListenerLimits {
  readonly maxBodyBytes?: number;
  readonly maxJsonStrings?: number;
  readonly maxJsonValues?: number;
  readonly maxJsonDepth?: number;
  /** Bytes for the bodies of all requests in flight. */
  readonly maxBodyMemory?: number;
  readonly headersTimeout?: number;
  readonly requestTimeout?: number;
  readonly keepAliveTimeout?: number;
  /** Networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** The header in which those proxies pass on the certificate of their client. */
  readonly forwardedCertificate?: ForwardedCertificateOptions;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Metrics without a token. */
  readonly openMetrics: boolean;
  /** What callers without a token can do with their key shares. */
  readonly tokenless?: readonly TokenlessCeremony[];
  /** False: the console is not served here. */
  readonly ui?: boolean;
}

export interface TcpListener extends ListenerLimits {
  readonly type: 'tcp';
  /** '' listens on every address. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsChoice;
}

export interface UnixListener extends ListenerLimits {
  readonly type: 'unix';
  readonly path: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

export type Listener = TcpListener | UnixListener;

/** One seal that opens by itself. */
export interface SealChoice {
  readonly type: string;
  /** The type by default. */
  readonly name?: string;
  readonly priority?: number;
  /** It only opens what is to be migrated. */
  readonly disabled: boolean;
  /** The keys of the type as they were written. */
  readonly block: Readonly<Record<string, string>>;
  /** False where several blocks have this type: a variable of the environment cannot mean one of them. */
  readonly envWins: boolean;
  readonly health?: SealHealthSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly at: string;
}

/** A package of somebody else that holds plugins. */
export interface PluginChoice {
  /** As npm knows it, or the path of a module. */
  readonly name: string;
  /** Where relative names are looked up: the folder of the file that names it. */
  readonly from: string;
  readonly at: string;
}

/** A configuration that was checked whole. Times are in seconds. */
export interface Configuration {
  readonly storage: StorageChoice;
  readonly listeners: readonly Listener[];
  /** Processes that serve. With more than one, another process supervises them. */
  readonly workers: number;
  /** None: the key is split among operators. */
  readonly seals: readonly SealChoice[];
  readonly apiAddress?: string;
  readonly clusterName?: string;
  readonly defaultLeaseTtl?: number;
  readonly maxLeaseTtl?: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly logFile?: string;
  readonly pidFile?: string;
  readonly metrics: boolean;
  /** Absent: no traces. */
  readonly tracing?: TracingChoice;
  readonly audit: Readonly<Record<string, AuditDeviceConfig>>;
  readonly auditEmergencyDisable: readonly string[];
  /** Absent: the defaults of the core. */
  readonly lockout?: LockoutDefaults;
  readonly plugins: readonly PluginChoice[];
  readonly console: ConsoleChoice;
  /** What is accepted but has no effect here, with the reason: to be logged once. */
  readonly notices: readonly string[];
  /** The configuration as written, without secrets: for `sys/config/state/sanitized`. */
  readonly sanitized: Readonly<Record<string, unknown>>;
}

export const NO_LIMITS: ListenerLimits = { trustedProxies: [], headers: {}, openMetrics: false };
export const DEFAULT_PORT = 8200;
