import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { AzureKvConnection, type AzureKvOptions, checkConnection } from './connection.ts';
import { AZURE_KV_LIMITS } from './limits.ts';

/** The destination with the operator's options. */
export function createAzureKvDestination(options: AzureKvOptions = {}): SyncDestinationPlugin<typeof AzureKvConnection> {
  return {
    kind: 'sync-destination',
    name: 'azure-kv',
    aliases: ['cloud2-kv'],
    title: 'Azure Key Vault',
    apiVersion: 2,
    version: '0.1.0',
    code: [new URL('.', import.meta.url).href, '@azure', '@typespec'],
    connection: AzureKvConnection,
    fixed: ['key_vault_uri', 'tenant_id', 'cloud'],
    options: { customTags: true, granularity: 'secret-path', secretNameTemplate: 'vault-{{ .MountAccessor }}-{{ .SecretPath }}' },
    ownership: 'marked',
    limits: () => AZURE_KV_LIMITS,
    check: (connection) => checkConnection(connection, options),
    open: async (connection, host) => (await import('./open.ts')).openAzureKv(connection, host, options),
  };
}

export const azureKvDestination: SyncDestinationPlugin<typeof AzureKvConnection> = createAzureKvDestination();
