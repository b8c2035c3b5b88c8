import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { slapdMissing, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { configFor, SVC, withManager } from './ldap-mount.ts';

let slapd: Slapd | undefined;
beforeAll(async () => {
  if (slapdMissing === undefined) slapd = await startSlapd(withManager);
});
afterAll(async () => slapd?.stop());

engineContract(
  { describe, test },
  {
    engine: ldapSecrets,
    prepare: async (mount) => {
      await mount.write('config', configFor(slapd ?? { url: 'ldap://127.0.0.1:1' }, { connection_timeout: 1 }));
      await mount.write('role/app', {
        creation_ldif: `dn: uid={{.Username}},${SVC}\nobjectClass: account\nuid: {{.Username}}\n`,
        deletion_ldif: `dn: uid={{.Username}},${SVC}\nchangetype: delete\n`,
      });
      if (slapd === undefined) return { name: ['app', 'org/app'] };
      await mount.write('static-role/app', { username: 'svc1', rotation_period: '24h' });
      await mount.write('library/app', { service_account_names: 'svc2,svc3', disable_check_in_enforcement: true });
      await mount.write('library/app/check-out');
      await mount.read('creds/app');
      return { name: ['app', 'org/app'] };
    },
    leavesOutside:
      slapdMissing === undefined
        ? [
            { kind: 'directory account', name: /^uid=v_[^,]+,ou=svc,/ },
            { kind: 'directory account', name: /^svc1$|^uid=svc1,/ },
            { kind: 'directory account', name: /^svc[23]$/ },
          ]
        : [],
    outside: [
      'config/test',
      'rotate-root',
      'static-role/{name:path}',
      'rotate-role/{name:path}',
      'library/{name:path}',
      'creds/{name:path}',
    ],
    readsWithEffect: ['creds/{name:path}'],
  },
);
