import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { startKubernetesApi, type KubernetesApi } from '@strongroom/lab';
import { configFor, engine, READS_PODS } from './kubernetes-mount.ts';

let api: KubernetesApi;
beforeAll(async () => {
  api = await startKubernetesApi();
});
afterAll(async () => api.stop());

engineContract(
  { describe, test },
  {
    engine,
    prepare: async (mount) => {
      await mount.write('config', configFor(api));
      await mount.write('roles/pods', READS_PODS);
      await mount.write('creds/pods', { kubernetes_namespace: 'prod' });
      return { name: ['pods'] };
    },
    leavesOutside: [{ kind: 'service account', name: /^prod\/v-/ }],
    outside: ['creds/{name}', 'orphans'],
  },
);
