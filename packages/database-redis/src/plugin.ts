import { type DatabasePlugin, passwordOf, systemName } from '@strongroom/database-sdk';
import { commandText, createCommand } from './commands.ts';
import { RedisConnection } from './connection-schema.ts';
import { aclRules } from './rules.ts';
import { redisSettings } from './settings.ts';

const USERNAME_TEMPLATE =
  '{{ printf "V_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | uppercase }}';

function aclPlugin(name: string): DatabasePlugin<typeof RedisConnection> {
  return {
    kind: 'database',
    name,
    version: '0.1.0',
    apiVersion: 2,
    code: [new URL('.', import.meta.url).href, 'redis', '@redis'],
    connection: RedisConnection,
    supports: { credentials: ['password'], expiry: 'lease-only', statements: 'json' },
    usernameTemplate: USERNAME_TEMPLATE,
    identify(config) {
      const { host, port, username } = redisSettings(config);
      return { system: systemName('redis', [{ host, port }]), username: username ?? 'default' };
    },
    preview({ username, credential, statements }) {
      return [commandText(createCommand(username, passwordOf(name, credential), aclRules(statements.commands, username)))];
    },
    async open(config, host) {
      const settings = redisSettings(config);
      const { RedisSession } = await import('./session.ts');
      return new RedisSession(name, settings, host.log);
    },
  };
}

export const redisPlugin = aclPlugin('redis-database-plugin');
export const valkeyPlugin = aclPlugin('valkey-database-plugin');
