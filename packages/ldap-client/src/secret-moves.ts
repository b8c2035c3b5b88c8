import { BadRequest } from '@strongroom/engine-sdk';
import { defaultDirectoryConfig, tlsVersions, type SentDirectoryConfig } from './directory-config.ts';
import type { DirectoryConfig } from './directory-record.ts';
import { LdapError } from './error.ts';
import { addsNoHost } from './referral-hosts.ts';
import { canonicalServers, serverUrls } from './server-urls.ts';

type Moves = (before: DirectoryConfig, after: DirectoryConfig) => boolean;

/** Parameters that decide where the stored secrets go, and who may read them on the way, with the changes that they do not survive. */
const moves: readonly (readonly [parameter: keyof DirectoryConfig, moves: Moves])[] = [
  // A server less, another order and another variant are no other server.
  ['url', (before, after) => !servers(after).every((server) => servers(before).includes(server))],
  ['referral_hosts', (before, after) => !addsNoHost(before.referral_hosts ?? '', after.referral_hosts ?? '')],
  ['starttls', (before, after) => before.starttls && !after.starttls],
  ['insecure_tls', (before, after) => !before.insecure_tls && after.insecure_tls],
  ['certificate', (before, after) => before.certificate !== after.certificate],
  ['tls_min_version', (before, after) => older(after.tls_min_version, before.tls_min_version)],
  ['tls_max_version', (before, after) => older(after.tls_max_version, before.tls_max_version)],
];

function servers({ url: list }: DirectoryConfig): string[] {
  return serverUrls(list).map((url) => {
    try {
      return canonicalServers([url]);
    } catch (error) {
      // Stored by an older release.
      if (error instanceof LdapError) return url;
      throw error;
    }
  });
}

function older(version: string, than: string): boolean {
  return tlsVersions.indexOf(version) < tlsVersions.indexOf(than);
}

/** The parameters by which `after` sends stored secrets to another server than `before`, or sends them less safely. */
export function secretMoves(before: DirectoryConfig, after: DirectoryConfig): (keyof DirectoryConfig)[] {
  return moves.filter(([, moved]) => moved(before, after)).map(([parameter]) => parameter);
}

/** The stored secrets that a write does not bring again. */
export function keptSecrets(stored: DirectoryConfig, supplied: ReadonlySet<string>): ('bindpass' | 'client_tls_key')[] {
  return (['bindpass', 'client_tls_key'] as const).filter((secret) => stored[secret] !== '' && !supplied.has(secret));
}

/** For trying what is not stored: the stored secrets go nowhere but where they were meant for. @throws BadRequest */
export function requirePasswordFor(stored: DirectoryConfig, sent: SentDirectoryConfig, supplied: ReadonlySet<string>): void {
  const kept = keptSecrets(stored, supplied).join(' and ');
  if (kept === '') return;
  const after: Record<string, unknown> = { ...stored };
  for (const [parameter] of moves) if (supplied.has(parameter)) after[parameter] = sent[parameter] ?? defaultDirectoryConfig[parameter];
  const [moved] = secretMoves(stored, after as DirectoryConfig);
  if (moved === undefined) return;
  throw new BadRequest(`${kept} must be sent with another ${moved}: what is stored is used with the stored ${moved} alone`);
}
