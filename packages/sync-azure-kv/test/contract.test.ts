import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { type AzureServer, startAzureServer, syncDestinationContract } from '@strongroom/sync-testkit';
import { createAzureKvDestination } from '../src/index.ts';
import { azureOutside } from './azure-outside.ts';

// A busy machine takes its time for many calls.
jest.setTimeout(60_000);

const server: AzureServer = await startAzureServer();

describe('Azure Key Vault', () => {
  beforeAll(() => server.forget());
  afterAll(() => server.stop());

  syncDestinationContract(
    { describe, test },
    {
      plugin: createAzureKvDestination({
        authorityHost: server.url,
        disableInstanceDiscovery: true,
        disableChallengeResourceVerification: true,
      }),
      ca: server.ca,
      config: {
        key_vault_uri: server.url,
        tenant_id: server.tenantId,
        client_id: server.client.clientId,
        client_secret: server.client.clientSecret,
        cloud: 'cloud',
      },
      outside: azureOutside(() => server),
      wrongCredentials: (good) => ({ ...good, client_secret: 'a secret of another app' }),
      unreachable: (good) => ({ ...good, key_vault_uri: 'https://127.0.0.1:1' }),
      malformed: (good) => ({ ...good, key_vault_uri: 'http://vault.example' }),
      listed: 30,
    },
  );
});
