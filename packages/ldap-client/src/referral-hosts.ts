import { BadRequest } from '@strongroom/engine-sdk';
import type { ReferralUrl } from './referral-url.ts';

interface Host {
  /** Without the brackets of an IPv6 address, in lower case. */
  readonly name: string;
  /** Undefined: the default ports of ldap and ldaps. */
  readonly port: number | undefined;
}

const defaultPorts: readonly number[] = [389, 636];

/** The hosts of a list with commas, in lower case, without the spaces around them, each once. */
export function referralHosts(list: string): string[] {
  const hosts = list.split(',').map((host) => host.trim().toLowerCase());
  return [...new Set(hosts.filter((host) => host !== ''))];
}

/** The list as it is stored. @throws BadRequest naming `referral_hosts` for what is not a host; an empty list passes. */
export function checkReferralHosts(list: string): string {
  const hosts = referralHosts(list);
  for (const host of hosts) {
    if (host.includes('@')) throw new BadRequest('referral_hosts: a host holds no name or password; binddn and bindpass are for them');
    if (parseHost(host) !== undefined) continue;
    throw new BadRequest(
      `referral_hosts: ${JSON.stringify(host)} is not a host; write dc2.corp.example for the ports 389 and 636, or dc2.corp.example:3269 for another one, without ldap://`,
    );
  }
  return hosts.join(',');
}

function parseHost(text: string): Host | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?))(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  const name = bracketed ?? plain;
  const port = digits === undefined ? undefined : Number(digits);
  if (name === undefined || port === 0 || (port ?? 0) > 65_535) return undefined;
  return { name, port };
}

/** Whether a referral may lead to this server. `hosts`: as `referralHosts` gives them. */
export function isListed(hosts: readonly string[], { host, port }: Pick<ReferralUrl, 'host' | 'port'>): boolean {
  return hosts.some((text) => {
    const listed = parseHost(text);
    return listed?.name === host && (listed.port === undefined ? defaultPorts.includes(port) : listed.port === port);
  });
}

/** Whether every server that `after` lists is listed by `before`, too. */
export function addsNoHost(before: string, after: string): boolean {
  const known = referralHosts(before);
  return referralHosts(after).every((text) => {
    const host = parseHost(text);
    if (host === undefined || known.includes(text)) return known.includes(text);
    return (host.port === undefined ? defaultPorts : [host.port]).every((port) => isListed(known, { host: host.name, port }));
  });
}
