import type { DatabasePlugin } from '@strongroom/database-sdk';
import { MssqlConnection } from './connection-schema.ts';
import { previewCreation } from './creation.ts';
import { canonicalUser, identify } from './identity.ts';
import { USERNAME_MAX_LENGTH, USERNAME_TEMPLATE } from './default-statements.ts';

export const mssqlPlugin: DatabasePlugin<typeof MssqlConnection> = {
  kind: 'database',
  name: 'mssql-database-plugin',
  version: '0.1.0',
  apiVersion: 1,
  code: [new URL('.', import.meta.url).href, 'tedious'],
  connection: MssqlConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'sql' },
  usernameTemplate: USERNAME_TEMPLATE,
  usernameMaxLength: USERNAME_MAX_LENGTH,
  identify,
  canonicalUser,
  preview: previewCreation,
  open: async (config, host) => (await import('./open.ts')).openMssql(config, host),
};
