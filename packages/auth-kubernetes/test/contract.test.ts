import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { createTestCa } from '@strongroom/lab';
import { kubernetesAuthWith } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: kubernetesAuthWith({ podFolder: '/no/pod/here' }),
    prepare: async (mount) => {
      const ca = createTestCa().certificate;
      await mount.write('config', { kubernetes_host: 'https://127.0.0.1:1', kubernetes_ca_cert: ca, token_reviewer_jwt: 'reviewer-token' });
      await mount.write('role/app', {
        bound_service_account_names: 'app',
        bound_service_account_namespaces: 'default',
        audience: 'strongroom',
      });
      return { name: ['app'], role: ['app'] };
    },
    outside: ['login', 'config/test'],
  },
);
