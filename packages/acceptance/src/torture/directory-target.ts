import { accountTemplates } from '@strongroom/lab';
import { ldapSecrets } from '@strongroom/ldap-secrets';
import { COMMON_SCENARIOS, commonScenarios } from './common-scenarios.ts';
import type { KillTarget } from './kill-run.ts';
import { libraryScenario } from './library-scenario.ts';
import { ACCOUNTS, GROUP, LEASED, type TortureDirectory } from './torture-directory.ts';

export const DIRECTORY_SCENARIOS = [...COMMON_SCENARIOS, 'check-in'] as const;
export type DirectoryScenario = (typeof DIRECTORY_SCENARIOS)[number];

const STATIC_ROLES = ['svc1', 'svc2', 'svc3', 'svc4', 'svc5', 'svc6'];
/** More than kills take quarantined for a while: a change of a password that is cut off is nobody else's for some time. */
const LENT = Array.from({ length: 60 }, (_, i) => `lent${i}`);

const { creation_ldif, deletion_ldif } = accountTemplates(LEASED, GROUP);

const mountOf = (i: number): string => (i === 0 ? 'ldap' : `ldap${i}`);
const staticRole = (role: string): string => `ldap/static-role/${role}`;
const staticRoleFields = (username: string): Record<string, unknown> => ({ username, rotation_period: '24h' });

/** The secrets engine of directories at `ldap/`, and at `ldap1/` and so on with managing accounts of their own. */
export function directoryTarget(directory: TortureDirectory): KillTarget<DirectoryScenario> {
  return {
    name: 'slapd',
    plugins: [ldapSecrets],
    prepare: async (server) => {
      // Each mount has one managing account: the first one does the work, the others have their passwords rotated.
      for (const [i, { dn, password }] of directory.managers.entries()) {
        const mount = mountOf(i);
        await server.call('POST', `sys/mounts/${mount}`, { type: 'ldap' });
        await server.call('POST', `${mount}/config`, {
          url: directory.url,
          binddn: dn,
          bindpass: password,
          userdn: ACCOUNTS,
          userattr: 'uid',
        });
        await server.call('POST', `${mount}/role/app`, { creation_ldif, deletion_ldif, default_ttl: '1h' });
      }
      for (const role of STATIC_ROLES) await server.call('POST', staticRole(role), staticRoleFields(role));
      await server.call('POST', 'ldap/library/pool', { service_account_names: LENT, ttl: '1h' });
      const engine = {
        creds: 'ldap/creds/app',
        staticRoles: STATIC_ROLES,
        staticRole,
        staticRoleFields,
        rotateRole: (role: string) => `ldap/rotate-role/${role}`,
        staticCredential: (role: string) => `ldap/static-cred/${role}`,
        roots: directory.managers.map((_, i) => ({ rotate: `${mountOf(i)}/rotate-root`, creds: `${mountOf(i)}/creds/app` })).slice(1),
        accounts: async () => directory.leased(),
        login: async (username: string, secret: string) => directory.login(username, secret),
      };
      return { ...commonScenarios(server, engine), 'check-in': libraryScenario(server, directory, 'ldap/library/pool', LENT.length) };
    },
    stop: async () => directory.stop(),
  };
}
