import type { DirectoryConfig } from './directory-config.ts';
import { LdapError } from './error.ts';
import { canonicalServers, serverUrls } from './server-urls.ts';

const tlsVersions = ['tls10', 'tls11', 'tls12', 'tls13'];

/** The parameters whose new value sends the password of the service account to another server, or less safely to the same: for `requireSecretsAgain`. */
export function movedSettings(before: DirectoryConfig, after: DirectoryConfig): string[] {
  const moved: string[] = [];
  const known = new Set(spellings(before.url));
  if (spellings(after.url).some((url) => !known.has(url))) moved.push('url');
  if (before.starttls && !after.starttls && spellings(after.url).some((url) => !url.startsWith('ldaps:'))) moved.push('starttls');
  if (!before.insecure_tls && after.insecure_tls) moved.push('insecure_tls');
  if (before.certificate !== after.certificate) moved.push('certificate');
  for (const name of ['tls_min_version', 'tls_max_version'] as const) {
    if (tlsVersions.indexOf(after[name]) < tlsVersions.indexOf(before[name])) moved.push(name);
  }
  return moved;
}

function spellings(list: string): string[] {
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
