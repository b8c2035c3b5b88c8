import { type DatabasePlugin, serialCreation, systemName } from '@strongroom/database-sdk';
import { CassandraConnection } from './connection-schema.ts';
import { rules } from './default-statements.ts';
import { cassandraSettings } from './settings.ts';

const USERNAME_TEMPLATE =
  '{{ printf "v_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | lowercase }}';

export const cassandraPlugin: DatabasePlugin<typeof CassandraConnection> = {
  kind: 'database',
  name: rules.name,
  version: '0.1.0',
  apiVersion: 2,
  code: [new URL('.', import.meta.url).href, 'cassandra-driver'],
  connection: CassandraConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'sql' },
  usernameTemplate: USERNAME_TEMPLATE,
  identify(config) {
    const { contactPoints, username } = cassandraSettings(config);
    return { system: systemName('cassandra', contactPoints.map(placeOf)), username };
  },
  preview: (request) => serialCreation(rules, request),
  async open(config, host) {
    const settings = cassandraSettings(config);
    const { CassandraSession } = await import('./session.ts');
    return new CassandraSession(settings, host.log);
  },
};

/** A contact point, `host:port`. */
function placeOf(point: string): { host: string; port: number } {
  const colon = point.lastIndexOf(':');
  return { host: point.slice(0, colon), port: Number(point.slice(colon + 1)) };
}
