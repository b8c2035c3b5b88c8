import { type DatabasePlugin, passwordOf } from '@strongroom/database-sdk';
import { commandText, createUserCommand } from './commands.ts';
import { MongodbConnection } from './connection-schema.ts';
import { canonicalUser, identify } from './identity.ts';
import { mongodbSettings } from './settings.ts';

const USERNAME_TEMPLATE =
  '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | replace "." "-" | truncate 100 }}';

export const mongodbPlugin: DatabasePlugin<typeof MongodbConnection> = {
  kind: 'database',
  name: 'mongodb-database-plugin',
  version: '0.1.0',
  apiVersion: 2,
  code: [new URL('.', import.meta.url).href, 'mongodb', 'bson'],
  connection: MongodbConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'json' },
  usernameTemplate: USERNAME_TEMPLATE,
  identify,
  canonicalUser,
  preview({ username, credential, statements }) {
    return [commandText(createUserCommand(statements.commands, username, passwordOf('mongodb-database-plugin', credential)))];
  },
  async open(config, host) {
    const settings = mongodbSettings(config);
    const { MongodbSession } = await import('./session.ts');
    return new MongodbSession(settings, host.log);
  },
};
