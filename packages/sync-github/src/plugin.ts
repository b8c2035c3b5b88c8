import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { describeApp, GithubApp } from './app.ts';
import { checkConnection, GithubConnection, type GithubOptions } from './connection.ts';
import { githubLimits } from './limits.ts';

/** The destination with the operator's options. */
export function createGithubDestination(options: GithubOptions = {}): SyncDestinationPlugin<typeof GithubConnection, typeof GithubApp> {
  return {
    kind: 'sync-destination',
    name: 'gh',
    aliases: ['codehost'],
    title: 'GitHub Actions secrets',
    apiVersion: 2,
    version: '0.1.0',
    code: [new URL('.', import.meta.url).href, '@octokit', 'libsodium-wrappers', 'undici'],
    connection: GithubConnection,
    fixed: ['secrets_location', 'repository_owner', 'repository_name', 'environment_name', 'organization_name', 'enterprise_url'],
    options: {
      customTags: false,
      granularity: 'secret-key',
      secretNameTemplate:
        'VAULT_{{ .MountAccessor | uppercase }}_{{ .SecretPath | uppercase }}{{ if .SecretKey }}_{{ .SecretKey | uppercase }}{{ end }}',
    },
    ownership: 'recorded',
    accounts: { collection: 'github-apps', field: 'app_name', fields: GithubApp, describe: describeApp },
    limits: githubLimits,
    check: checkConnection,
    open: async (connection, host) => (await import('./open.ts')).openGithub(connection, host, options),
  };
}

export const githubDestination: SyncDestinationPlugin<typeof GithubConnection, typeof GithubApp> = createGithubDestination();
