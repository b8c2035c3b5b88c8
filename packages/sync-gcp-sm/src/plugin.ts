import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { checkConnection, GcpSmConnection, type GcpSmOptions } from './connection.ts';
import { GCP_SM_LIMITS } from './limits.ts';

/** The destination with the operator's options. */
export function createGcpSmDestination(options: GcpSmOptions = {}): SyncDestinationPlugin<typeof GcpSmConnection> {
  return {
    kind: 'sync-destination',
    name: 'gcp-sm',
    aliases: ['cloud3-sm'],
    title: 'Google Cloud Secret Manager',
    apiVersion: 2,
    version: '0.1.0',
    code: [new URL('.', import.meta.url).href, '@google-cloud/secret-manager', 'google-gax', 'google-auth-library', '@grpc/grpc-js'],
    connection: GcpSmConnection,
    fixed: ['project_id'],
    options: { customTags: true, granularity: 'secret-path', secretNameTemplate: 'vault-{{ .MountAccessor }}-{{ .SecretPath }}' },
    ownership: 'marked',
    limits: () => GCP_SM_LIMITS,
    check: checkConnection,
    open: async (connection, host) => (await import('./open.ts')).openGcpSm(connection, host, options),
  };
}

export const gcpSmDestination: SyncDestinationPlugin<typeof GcpSmConnection> = createGcpSmDestination();
