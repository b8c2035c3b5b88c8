import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureVersion } from 'node:tls';
import { LdapError } from './error.ts';

export type TlsVersion = 'tls10' | 'tls11' | 'tls12' | 'tls13';

/** How to reach a directory. Absent keys take the defaults named here. */
export interface LdapSettings {
  /** `ldap://host[:389]` or `ldaps://host[:636]`, in the order of preference. */
  urls: readonly string[];
  /** Upgrade `ldap:` connections with StartTLS before anything else is sent; false. Never applies to `ldaps:`. */
  starttls?: boolean | undefined;
  /** Accept any server certificate; false. */
  insecureTls?: boolean | undefined;
  /** `tls12`. */
  tlsMinVersion?: TlsVersion | undefined;
  /** `tls12`. */
  tlsMaxVersion?: TlsVersion | undefined;
  /** PEM of the only CAs to trust; the system's when absent or empty. */
  certificate?: string | undefined;
  /** PEM; both or neither. */
  clientTlsCert?: string | undefined;
  clientTlsKey?: string | undefined;
  /** For one server: connect, handshake and StartTLS together; 30. */
  connectionTimeoutSeconds?: number | undefined;
  /** For one request; 90. */
  requestTimeoutSeconds?: number | undefined;
  /** Connections at most, for each service account and for user binds; 16. */
  maxConnections?: number | undefined;
  /** Unused connections are closed after this; 60. */
  idleTimeoutSeconds?: number | undefined;
  /** Hosts to which service connections follow referrals, `host`, for the ports 389 and 636, or `host:port`; none. */
  referralHosts?: readonly string[] | undefined;
}

export interface DialSettings {
  readonly starttls: boolean;
  readonly insecureTls: boolean;
  readonly connectMillis: number;
  readonly requestMillis: number;
  /** Made once, when first needed. Throws when a certificate or key is malformed. */
  secureContext(): SecureContext;
}

export interface LdapUrl {
  /** As configured. */
  readonly text: string;
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

/** Throws `LdapError` `INVALID`, in the words that such servers use; nothing is trimmed. */
export function parseLdapUrl(text: string): LdapUrl {
  const [, scheme = '', host = '', port = ''] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?(\[[^\]/?#]*\]|[^/?#:]*)(?::([^/?#]*))?(?:[/?#]|$)/.exec(text) ?? [];
  const lower = scheme.toLowerCase();
  if (/\s/.test(text) || !/^[0-9]{0,5}$/.test(port) || Number(port) > 65_535 || (scheme === '' && text.includes(':')))
    throw new LdapError('INVALID', { url: text, diagnosticMessage: `error parsing url ${JSON.stringify(text)}: not an LDAP URL` });
  if (lower !== 'ldap' && lower !== 'ldaps')
    throw new LdapError('INVALID', {
      url: text,
      diagnosticMessage: `invalid LDAP scheme in url ${JSON.stringify(scheme === '' ? ':' : `${host}:${port}`)}`,
    });
  const secure = lower === 'ldaps';
  return { text, secure, host: host.replace(/^\[(.*)\]$/, '$1') || 'localhost', port: port === '' ? (secure ? 636 : 389) : Number(port) };
}

const versions: Record<TlsVersion, SecureVersion> = { tls10: 'TLSv1', tls11: 'TLSv1.1', tls12: 'TLSv1.2', tls13: 'TLSv1.3' };

export function dialSettings(settings: LdapSettings): DialSettings {
  let context: SecureContext | undefined;
  return {
    starttls: settings.starttls ?? false,
    insecureTls: settings.insecureTls ?? false,
    connectMillis: (settings.connectionTimeoutSeconds ?? 30) * 1000,
    requestMillis: (settings.requestTimeoutSeconds ?? 90) * 1000,
    secureContext: () => (context ??= makeContext(settings)),
  };
}

function makeContext(settings: LdapSettings): SecureContext {
  const { tlsMinVersion = 'tls12', tlsMaxVersion = 'tls12', certificate = '', clientTlsCert = '', clientTlsKey = '' } = settings;
  const old = tlsMinVersion === 'tls10' || tlsMinVersion === 'tls11';
  return createSecureContext({
    minVersion: versions[tlsMinVersion],
    maxVersion: versions[tlsMaxVersion],
    ...(old ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
    ...(certificate === '' ? {} : { ca: certificate }),
    ...(clientTlsCert === '' ? {} : { cert: clientTlsCert, key: clientTlsKey }),
  });
}
