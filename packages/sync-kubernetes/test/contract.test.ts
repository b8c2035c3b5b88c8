import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { describeOnClusters } from '@strongroom/lab';
import { syncDestinationContract } from '@strongroom/sync-testkit';
import { kubernetesDestination } from '../src/index.ts';
import { connectionTo, SecretsOutside } from './secrets-outside.ts';

describeOnClusters('Kubernetes Secrets', (start) => {
  const outside = new SecretsOutside();
  beforeAll(async () => void (outside.cluster = await start()), 120_000);
  afterAll(async () => outside.cluster?.stop());

  syncDestinationContract(
    { describe, test: (name, body) => test(name, body, 60_000) },
    {
      plugin: kubernetesDestination,
      config: () => connectionTo(outside.cluster),
      outside,
      malformed: (good) => ({ ...good, namespace: 'Team_A' }),
      unreachable: (good) => ({ ...good, kubernetes_host: 'https://127.0.0.1:1' }),
      wrongCredentials: (good) => ({ ...good, service_account_jwt: 'header.payload.signature' }),
      listed: 120,
    },
  );
});
