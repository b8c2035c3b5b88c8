import { type DatabasePlugin, serialCreation, systemName } from '@strongroom/database-sdk';
import { InfluxdbConnection } from './connection-schema.ts';
import { rules } from './default-statements.ts';
import { influxdbSettings } from './settings.ts';

const USERNAME_TEMPLATE =
  '{{ printf "v_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | lowercase }}';

export const influxdbPlugin: DatabasePlugin<typeof InfluxdbConnection> = {
  kind: 'database',
  name: rules.name,
  version: '0.1.0',
  apiVersion: 2,
  code: [new URL('.', import.meta.url).href],
  connection: InfluxdbConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'sql' },
  usernameTemplate: USERNAME_TEMPLATE,
  identify(config) {
    const { origin, username } = influxdbSettings(config);
    const { hostname, port } = new URL(origin);
    return { system: systemName('influxdb', [{ host: hostname, port: Number(port) || (config.port ?? 0) }]), username };
  },
  preview: (request) => serialCreation(rules, request),
  async open(config, host) {
    const settings = influxdbSettings(config);
    const { InfluxdbSession } = await import('./session.ts');
    return new InfluxdbSession(settings, host.log);
  },
};
