import { LdapError } from './error.ts';
import type { LdapUrl } from './settings.ts';

const tlsCode = /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_|ERR_OSSL)/;

const plain: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  ETIMEDOUT: 'i/o timeout',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
};

/** What a socket's error means, in the words operators know from such servers. */
export function networkError(error: Error & { code?: unknown }, url: LdapUrl): LdapError {
  const code = typeof error.code === 'string' ? error.code : '';
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  if (tlsCode.test(code)) return new LdapError('TLS', { url: url.text, diagnosticMessage: `tls: ${error.message}` });
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new LdapError('NETWORK', { url: url.text, diagnosticMessage: `dial tcp: lookup ${host}: no such host` });
  const reason = plain[code] ?? error.message;
  return new LdapError('NETWORK', { url: url.text, diagnosticMessage: `dial tcp ${host}:${url.port}: ${reason}` });
}
