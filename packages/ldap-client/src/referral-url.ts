import { LdapError } from './error.ts';
import { parseLdapUrl } from './settings.ts';

/** What the URL of a referral says (RFC 4516); what is undefined stays as it is in the request. */
export interface ReferralUrl {
  readonly text: string;
  /** `ldap://host:port` or `ldaps://host:port`, in lower case. */
  readonly server: string;
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address, in lower case. */
  readonly host: string;
  readonly port: number;
  readonly base: string | undefined;
  readonly scope: 'base' | 'one' | 'sub' | undefined;
  readonly filter: string | undefined;
}

const scopes: ReadonlySet<string> = new Set(['base', 'one', 'sub']);

/** Undefined for what is no LDAP URL with a host, and for one with a critical extension: nobody may follow it without knowing the extension. */
export function parseReferralUrl(text: string): ReferralUrl | undefined {
  const [, scheme = '', authority = '', rest = ''] = /^(ldaps?):\/\/([^/?#]+)(?:\/(.*))?$/is.exec(text) ?? [];
  if (authority === '') return undefined;
  try {
    const { host, port, secure } = parseLdapUrl(`${scheme}://${authority}`);
    const [base = '', _attributes, scope = '', filter = '', extensions = ''] = rest.split('?').map((part) => decodeURIComponent(part));
    const wanted = scope.toLowerCase();
    if (extensions.split(',').some((extension) => extension.trim().startsWith('!'))) return undefined;
    if (wanted !== '' && !scopes.has(wanted)) return undefined;
    const name = host.toLowerCase();
    return {
      text,
      server: `${scheme.toLowerCase()}://${name.includes(':') ? `[${name}]` : name}:${port}`,
      secure,
      host: name,
      port,
      base: base === '' ? undefined : base,
      scope: wanted === '' ? undefined : (wanted as ReferralUrl['scope']),
      filter: filter === '' ? undefined : filter,
    };
  } catch (error) {
    if (error instanceof LdapError || error instanceof URIError) return undefined;
    throw error;
  }
}
