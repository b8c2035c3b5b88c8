import { BadRequest, isLoopbackHost } from '@strongroom/engine-sdk';
import { LdapError } from './error.ts';
import { parseLdapUrl } from './settings.ts';

/** The URLs of a list with commas, without the spaces around them and without empty ones. */
export function serverUrls(list: string): string[] {
  return list
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
}

/** The list as it is stored. @throws BadRequest naming `url` for what is not an LDAP URL; an empty list passes. */
export function checkServerUrls(list: string): string {
  const urls = serverUrls(list);
  for (const url of urls) {
    if (url.includes('@')) throw new BadRequest('url: a URL holds no name or password; binddn and bindpass are for them');
    try {
      parseLdapUrl(url);
    } catch (error) {
      if (!(error instanceof LdapError)) throw error;
      throw new BadRequest(
        `url: ${JSON.stringify(url)} is not an LDAP URL; write ldap://host or ldaps://host, with a port where it is not 389 or 636`,
      );
    }
  }
  return urls.join(',');
}

/** The warning for servers that get passwords in clear: those of `ldap://` on other machines, without StartTLS. Undefined where there are none. */
export function plainServersWarning({ url, starttls }: { readonly url: string; readonly starttls: boolean }): string | undefined {
  const plain = starttls ? [] : serverUrls(url).filter((one) => isPlain(one));
  if (plain.length === 0) return undefined;
  return `url: ${plain.join(', ')} ${plain.length === 1 ? 'is' : 'are'} not encrypted, so passwords can be read on the way; use ldaps://, or set starttls`;
}

function isPlain(url: string): boolean {
  const { secure, host } = parseLdapUrl(url);
  return !secure && !isLoopbackHost(host);
}

/** One variant for lists of the same servers: `ldap://a:389,ldaps://b:636`, lower case, with ports, in order of the text. */
export function canonicalServers(urls: readonly string[]): string {
  const servers = urls.map((text) => {
    const { secure, host, port } = parseLdapUrl(text);
    return `${secure ? 'ldaps' : 'ldap'}://${host.toLowerCase()}:${port}`;
  });
  return [...new Set(servers)].sort().join(',');
}
