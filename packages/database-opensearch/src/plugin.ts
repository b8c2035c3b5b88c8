import { type DatabasePlugin, systemName } from '@strongroom/database-sdk';
import { OpensearchConnection } from './connection-schema.ts';
import { opensearchSettings } from './settings.ts';
import { creationSteps, PLUGIN_NAME } from './user-definition.ts';

const USERNAME_TEMPLATE =
  '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace ":" "-" }}';

export const opensearchPlugin: DatabasePlugin<typeof OpensearchConnection> = {
  kind: 'database',
  name: PLUGIN_NAME,
  version: '0.1.0',
  apiVersion: 2,
  code: [new URL('.', import.meta.url).href],
  connection: OpensearchConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'json', selfManaged: true },
  usernameTemplate: USERNAME_TEMPLATE,
  identify(config) {
    const { origin, username } = opensearchSettings(config);
    const { hostname, port, protocol } = new URL(origin);
    return { system: systemName('opensearch', [{ host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }]), username };
  },
  preview: (request) => creationSteps(request).map(({ path, body }) => `PUT /_plugins/_security/api${path} ${JSON.stringify(body)}`),
  async open(config, host) {
    const settings = opensearchSettings(config);
    const { OpensearchSession } = await import('./session.ts');
    return new OpensearchSession(settings, host.log);
  },
};
