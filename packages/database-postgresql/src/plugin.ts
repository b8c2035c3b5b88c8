import type { DatabasePlugin } from '@strongroom/database-sdk';
import { PostgresqlConnection } from './connection-schema.ts';
import { previewCreation } from './creation.ts';
import { canonicalUser, identify } from './identity.ts';
import { USERNAME_MAX_LENGTH, USERNAME_TEMPLATE } from './default-statements.ts';

export const postgresqlPlugin: DatabasePlugin<typeof PostgresqlConnection> = {
  kind: 'database',
  name: 'postgresql-database-plugin',
  version: '0.1.0',
  apiVersion: 1,
  code: [new URL('.', import.meta.url).href, 'pg', 'pg-protocol', 'pg-connection-string'],
  connection: PostgresqlConnection,
  supports: { credentials: ['password', 'client_certificate'], expiry: 'native', statements: 'sql' },
  usernameTemplate: USERNAME_TEMPLATE,
  usernameMaxLength: USERNAME_MAX_LENGTH,
  identify,
  canonicalUser,
  preview: previewCreation,
  open: async (config, host) => (await import('./open.ts')).openPostgresql(config, host),
};
