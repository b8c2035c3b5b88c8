import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { AwsSsmConnection, checkConnection } from './connection.ts';
import { limitsOf } from './limits.ts';
import { openAwsSsm } from './open.ts';

/** Secret sync to the Parameter Store of AWS Systems Manager: `sys/sync/destinations/aws-ssm/<name>`. */
export const awsSsmDestination: SyncDestinationPlugin<typeof AwsSsmConnection> = {
  kind: 'sync-destination',
  name: 'aws-ssm',
  title: 'AWS Parameter Store',
  apiVersion: 2,
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href, '@aws-sdk/client-ssm'],
  connection: AwsSsmConnection,
  fixed: ['region', 'endpoint'],
  options: {
    customTags: true,
    granularity: 'secret-path',
    secretNameTemplate: '/vault/{{ .MountAccessor }}/{{ .SecretPath }}',
  },
  ownership: 'marked',
  limits: limitsOf,
  check: checkConnection,
  open: openAwsSsm,
};
