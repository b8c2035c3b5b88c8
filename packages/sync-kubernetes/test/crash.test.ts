import { afterAll, beforeAll } from '@jest/globals';
import { type ApiWatch, describeOnClusters } from '@strongroom/lab';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { destinationCrash } from '../../sync-testkit/test/engine/destination-crash.ts';
import { kubernetesDestination } from '../src/index.ts';
import { SecretsOutside } from './secrets-outside.ts';

describeOnClusters('Kubernetes Secrets', (start) => {
  const outside = new SecretsOutside();
  beforeAll(async () => void (outside.cluster = await start()), 120_000);
  afterAll(async () => outside.cluster?.stop());
  const watch = (watcher: ApiWatch): void => outside.cluster.watch(watcher);

  destinationCrash({
    plugin: kubernetesDestination as unknown as SyncDestinationPlugin,
    fields: () => ({
      kubernetes_host: outside.cluster.url,
      kubernetes_ca_cert: outside.cluster.ca,
      service_account_jwt: outside.cluster.manager,
      namespace: 'prod',
    }),
    empty: async () => outside.empty(),
    cutAt: (n, loss, lost) => {
      let left = n;
      let isShut = false;
      watch((_call, when) => {
        if (isShut) return 'cut';
        if (when === 'before' && left > 0) left -= 1;
        else if (when === (loss === 'request' ? 'before' : 'after') && left === 0) {
          isShut = true;
          lost();
          return 'cut';
        }
        return undefined;
      });
    },
    heal: () => watch(() => undefined),
    standing: async () => outside.all(),
  });
});
