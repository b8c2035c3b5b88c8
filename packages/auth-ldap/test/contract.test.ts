import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { ldapAuth } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: ldapAuth,
    prepare: async (mount) => {
      await mount.write('config', { url: 'ldap://127.0.0.1:1', binddn: 'cn=admin', bindpass: 'bind-password', connection_timeout: 1 });
      await mount.write('groups/eng', { policies: 'dev' });
      await mount.write('users/ada', { policies: 'dev', groups: 'eng' });
      return { name: ['eng'], username: ['ada'] };
    },
    outside: ['login/{username:all}', 'config/test', 'config/rotate-root'],
  },
);
