import { CredentialUnsupported, type DatabasePlugin, systemName } from '@strongroom/database-sdk';
import { InfluxdbConnection } from './connection-schema.ts';
import { creationStatements, expirationText } from './default-statements.ts';
import { influxdbSettings } from './settings.ts';

const USERNAME_TEMPLATE =
  '{{ printf "v_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | lowercase }}';

export const influxdbPlugin: DatabasePlugin<typeof InfluxdbConnection> = {
  kind: 'database',
  name: 'influxdb-database-plugin',
  version: '0.1.0',
  apiVersion: 1,
  code: [new URL('.', import.meta.url).href],
  connection: InfluxdbConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'sql' },
  usernameTemplate: USERNAME_TEMPLATE,
  identify(config) {
    const { origin, username } = influxdbSettings(config);
    const { hostname, port } = new URL(origin);
    return { system: systemName('influxdb', [{ host: hostname, port: Number(port) || (config.port ?? 0) }]), username };
  },
  preview({ username, credential, statements, expiresAt }) {
    if (credential.type !== 'password') throw new CredentialUnsupported('influxdb-database-plugin', credential.type);
    const values = { name: username, username, password: credential.password, expiration: expirationText(expiresAt) };
    return creationStatements(statements.commands, values);
  },
  async open(config, host) {
    const settings = influxdbSettings(config);
    const { InfluxdbSession } = await import('./session.ts');
    return new InfluxdbSession(settings, host.log);
  },
};
