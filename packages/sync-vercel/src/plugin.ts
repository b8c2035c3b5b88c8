import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { checkConnection, VercelConnection, type VercelOptions } from './connection.ts';
import { VERCEL_LIMITS } from './limits.ts';

/** The destination with the operator's options. */
export function createVercelDestination(options: VercelOptions = {}): SyncDestinationPlugin<typeof VercelConnection> {
  return {
    kind: 'sync-destination',
    name: 'vercel-project',
    aliases: ['webhost-project'],
    title: 'Vercel',
    apiVersion: 2,
    version: '0.1.0',
    code: [new URL('.', import.meta.url).href, 'undici'],
    connection: VercelConnection,
    fixed: ['project_id', 'team_id', 'deployment_environments'],
    options: {
      customTags: false,
      granularity: 'secret-key',
      secretNameTemplate:
        'VAULT_{{ .MountAccessor | uppercase }}_{{ .SecretPath | uppercase }}{{ if .SecretKey }}_{{ .SecretKey | uppercase }}{{ end }}',
    },
    ownership: 'marked',
    limits: () => VERCEL_LIMITS,
    check: checkConnection,
    open: async (connection, host) => (await import('./open.ts')).openVercel(connection, host, options),
  };
}

export const vercelDestination: SyncDestinationPlugin<typeof VercelConnection> = createVercelDestination();
