import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { awsEngine } from '../src/index.ts';
import { DEPLOY, READ_ONLY, rootConfig } from './cloud-mount.ts';

engineContract(
  { describe, test },
  {
    engine: awsEngine,
    prepare: async (mount) => {
      const key = { access_key: 'AKIAEXAMPLEEXAMPLE00', secret_key: 'no-secret-of-anybody' };
      await mount.write('config/root', rootConfig('http://127.0.0.1:1', key, { max_retries: 0 }));
      await mount.write('config/lease', { lease: '1h', lease_max: '24h' });
      await mount.write('roles/user', { credential_type: 'iam_user', policy_arns: READ_ONLY });
      await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
      return { name: ['user', 'deploy'] };
    },
    outside: [
      'creds/{name:at}',
      'sts/{name:at}',
      'static-roles/{name:at}',
      'rotate-role/{name:at}',
      'config/rotate-root',
      'orphans',
      'orphans/{name:any}',
    ],
    readsWithEffect: ['creds/{name:at}', 'sts/{name:at}', 'preview/{name:at}', 'orphans'],
  },
);
