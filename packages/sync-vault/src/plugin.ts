import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { checkConnection, VaultConnection } from './connection.ts';
import { VAULT_LIMITS } from './limits.ts';

/** Secret sync to a version-2 key-value mount of another server: `sys/sync/destinations/vault/<name>`. */
export const vaultDestination: SyncDestinationPlugin<typeof VaultConnection> = {
  kind: 'sync-destination',
  name: 'vault',
  title: 'Vault',
  apiVersion: 2,
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href],
  connection: VaultConnection,
  fixed: ['address', 'namespace', 'mount', 'path_prefix'],
  options: { customTags: true, granularity: 'secret-path', secretNameTemplate: '{{ .MountPath }}/{{ .SecretPath }}' },
  ownership: 'marked',
  limits: () => VAULT_LIMITS,
  check: checkConnection,
  open: async (connection, host) => (await import('./open.ts')).openVault(connection, host),
};
