import { afterAll, beforeAll } from '@jest/globals';
import { describeOnClusters } from '@strongroom/lab';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { destinationWalk } from '../../sync-testkit/test/engine/destination-walk.ts';
import { kubernetesDestination } from '../src/index.ts';
import { SecretsOutside } from './secrets-outside.ts';

describeOnClusters('Secret sync', (start) => {
  const outside = new SecretsOutside();
  beforeAll(async () => void (outside.cluster = await start()), 120_000);
  afterAll(async () => outside.cluster?.stop());

  destinationWalk({
    plugin: kubernetesDestination as unknown as SyncDestinationPlugin,
    alias: 'kubernetes',
    fields: () => ({
      kubernetes_host: outside.cluster.url,
      kubernetes_ca_cert: outside.cluster.ca,
      service_account_jwt: outside.cluster.manager,
      namespace: 'prod',
    }),
    shown: () => ({
      kubernetes_host: outside.cluster.url,
      kubernetes_ca_cert: outside.cluster.ca,
      service_account_jwt: '*****',
      namespace: 'prod',
      secret_type: 'Opaque',
    }),
    credential: 'service_account_jwt',
    allowed: () => ({ allowed_ipv4_addresses: '127.0.0.1/32', allowed_ports: new URL(outside.cluster.url).port }),
    outside,
    writes: () => outside.cluster.requests.filter(({ method }) => method !== 'GET').length,
    throttledCode: 'TooManyRequests',
    empty: () => {
      outside.heal();
      outside.cluster.requests.length = 0;
      return outside.empty();
    },
  });
});
