import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { AwsSmConnection, checkConnection } from './connection.ts';
import { LIMITS } from './limits.ts';
import { openAwsSm } from './open.ts';

/** Secret sync to AWS Secrets Manager: `sys/sync/destinations/aws-sm/<name>`. */
export const awsSmDestination: SyncDestinationPlugin<typeof AwsSmConnection> = {
  kind: 'sync-destination',
  name: 'aws-sm',
  aliases: ['cloud1-sm'],
  title: 'AWS Secrets Manager',
  apiVersion: 2,
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href, '@aws-sdk/client-secrets-manager'],
  connection: AwsSmConnection,
  fixed: ['region', 'endpoint'],
  options: {
    customTags: true,
    granularity: 'secret-path',
    secretNameTemplate: 'vault/{{ .MountAccessor }}/{{ .SecretPath }}',
  },
  ownership: 'marked',
  limits: () => LIMITS,
  check: checkConnection,
  open: openAwsSm,
};
