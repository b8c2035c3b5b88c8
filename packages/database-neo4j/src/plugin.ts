import { type DatabasePlugin, serialCreation, type Statements, systemName } from '@strongroom/database-sdk';
import { Neo4jConnection } from './connection-schema.ts';
import { rules } from './default-statements.ts';
import { neo4jSettings } from './settings.ts';

/** The server takes neither colons nor commas nor blanks. */
const USERNAME_TEMPLATE =
  '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace ":" "-" | replace "," "-" | replace " " "-" }}';

const FULL_RIGHTS =
  "In Neo4j's Community Edition every user has all rights on all data; only the Enterprise Edition has roles and privileges.";

export const neo4jPlugin: DatabasePlugin<typeof Neo4jConnection> = {
  kind: 'database',
  name: rules.name,
  version: '0.1.0',
  apiVersion: 2,
  code: [new URL('.', import.meta.url).href, 'neo4j-driver', 'neo4j-driver-bolt-connection', 'neo4j-driver-core'],
  connection: Neo4jConnection,
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'sql', selfManaged: true },
  usernameTemplate: USERNAME_TEMPLATE,
  identify(config) {
    const { host, port, username } = neo4jSettings(config);
    return { system: systemName('neo4j', [{ host, port }]), username };
  },
  preview: (request) => serialCreation(rules, request).map(({ text, parameters }) => `${text} ${JSON.stringify(parameters)}`),
  cautions: (creation) => (creation && grants(creation) ? [] : [FULL_RIGHTS]),
  async open(config, host) {
    const settings = neo4jSettings(config);
    const { Neo4jSession } = await import('./session.ts');
    return new Neo4jSession(settings, host.log);
  },
};

/** Statements with roles or privileges are for the Enterprise Edition: the other refuses them. */
function grants({ commands }: Statements): boolean {
  return commands.some((command) => /\bGRANT\b/i.test(command));
}
