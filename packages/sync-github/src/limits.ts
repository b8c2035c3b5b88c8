import type { DestinationLimits } from '@strongroom/sync-sdk';
import type { GithubConnection } from './connection.ts';

/** https://docs.github.com/actions/reference/security/secrets */
const MOST = { repository: 100, environment: 100, organization: 1000 } as const;

export function githubLimits(connection: Pick<GithubConnection, 'secrets_location' | 'environment_name'>): DestinationLimits {
  const place =
    connection.secrets_location === 'organization' ? 'organization' : connection.environment_name ? 'environment' : 'repository';
  return {
    name: {
      pattern: /(?!GITHUB_)[A-Z_][A-Z0-9_]*/,
      maxLength: 255,
      rule: 'upper-case letters, digits and "_", at most 255 characters, not begin with a digit, and not with GITHUB_',
      caseSensitive: false,
      normalize: (rendered) =>
        rendered
          .toUpperCase()
          .replaceAll(/[^A-Z0-9_]/gu, '_')
          .replace(/^(?=\d)/, '_'),
    },
    valueMaxBytes: 48 * 1024,
    // A workflow cannot tell an empty secret from one that is missing.
    emptyValue: false,
    maxCount: MOST[place],
    // A secondary limit wants no more than 80 writes a minute. Each comes after a look, so this is one a second.
    pace: { perSecond: 2, burst: 12 },
  };
}
