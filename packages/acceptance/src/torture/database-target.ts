import { databaseEngine } from '@strongroom/database';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { commonScenarios, type CommonScenario } from './common-scenarios.ts';
import type { KillTarget } from './kill-run.ts';
import type { TortureDatabase } from './torture-database.ts';

const STATIC_ROLES = ['fixed0', 'fixed1', 'fixed2', 'fixed3', 'fixed4', 'fixed5'];
const BOSSES = Array.from({ length: 10 }, (_, i) => `boss${i}`);

const staticRole = (role: string): string => `db/static-roles/${role}`;
const staticRoleFields = (username: string): Record<string, unknown> => ({ db_name: 'main', username, rotation_period: '24h' });

/** The database engine at `db/`: a connection of the superuser, and those of administrators whose passwords are rotated. */
export function databaseTarget(database: TortureDatabase): KillTarget<CommonScenario> {
  return {
    name: database.name,
    plugins: [databaseEngine, postgresqlPlugin, mysqlPlugin],
    prepare: async (server) => {
      await server.call('POST', 'sys/mounts/db', { type: 'database' });
      const main = database.connection(database.superuser, database.password);
      await server.call('POST', 'db/config/main', { ...main, allowed_roles: '*' });
      await server.call('POST', 'db/roles/app', { db_name: 'main', creation_statements: database.creation, default_ttl: '1h' });
      for (const boss of BOSSES) {
        await database.makeAdministrator(boss, 'boss-pw-first');
        await server.call('POST', `db/config/${boss}`, { ...database.connection(boss, 'boss-pw-first'), allowed_roles: '*' });
        await server.call('POST', `db/roles/of-${boss}`, { db_name: boss, creation_statements: database.creation, default_ttl: '1h' });
      }
      for (const role of STATIC_ROLES) {
        await database.makeUser(role, 'of-old');
        await server.call('POST', staticRole(role), staticRoleFields(role));
      }
      return commonScenarios(server, {
        staticRole,
        staticRoleFields,
        creds: 'db/creds/app',
        staticRoles: STATIC_ROLES,
        rotateRole: (role) => `db/rotate-role/${role}`,
        staticCredential: (role) => `db/static-creds/${role}`,
        roots: BOSSES.map((boss) => ({ rotate: `db/rotate-root/${boss}`, creds: `db/creds/of-${boss}` })),
        accounts: async () => database.users(),
        login: async (username, password) => database.login(username, password),
      });
    },
    stop: async () => database.stop(),
  };
}
